#pragma once
// Everything an application needs to register, call and store retryable functions. Separate headers have the rest:
// <easyretry/config.h> (configuration files), <easyretry/testing.h>, <easyretry/remote_engine.h>, <easyretry/mxrmq.h>.

#include <easyretry/attempt.h>
#include <easyretry/cluster.h>
#include <easyretry/encryption.h>
#include <easyretry/engine.h>
#include <easyretry/error.h>
#include <easyretry/event.h>
#include <easyretry/filter.h>
#include <easyretry/handler.h>
#include <easyretry/json.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/retryable.h>
#include <easyretry/stats.h>
#include <easyretry/submit.h>
#include <easyretry/task.h>
#include <easyretry/time.h>
