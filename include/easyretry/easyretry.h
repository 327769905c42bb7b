#pragma once
// Everything an application needs.

#include <easyretry/answer.h>
#include <easyretry/context.h>
#include <easyretry/engine.h>
#include <easyretry/error.h>
#include <easyretry/json.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/retryable.h>
#include <easyretry/stats.h>
#include <easyretry/task.h>
#include <easyretry/time.h>
