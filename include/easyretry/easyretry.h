#pragma once
// Everything an application needs.

#include <easyretry/answer.h>
#include <easyretry/attempt.h>
#include <easyretry/cluster.h>
#include <easyretry/config.h>
#include <easyretry/context.h>
#include <easyretry/counts.h>
#include <easyretry/encryption.h>
#include <easyretry/engine.h>
#include <easyretry/error.h>
#include <easyretry/event.h>
#include <easyretry/filter.h>
#include <easyretry/json.h>
#include <easyretry/options.h>
#include <easyretry/paused_handler.h>
#include <easyretry/persist.h>
#include <easyretry/policy.h>
#include <easyretry/retryable.h>
#include <easyretry/retryable_task.h>
#include <easyretry/stats.h>
#include <easyretry/submit.h>
#include <easyretry/task.h>
#include <easyretry/time.h>
#include <easyretry/transaction.h>
