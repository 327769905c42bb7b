#pragma once
// The scripts in lua/, each including lua/common.lua. cmake/lua_scripts.cmake generates their definitions.

#include "storage/redis/scripts.h"

namespace easyretry::mxrmq {

using storage::redis::Script;

namespace scripts {

extern const Script produce;
extern const Script produce_delayed;
extern const Script claim;
extern const Script complete;
extern const Script retry;
extern const Script dead;
extern const Script release;
extern const Script requeue;
extern const Script heartbeat;
extern const Script adopt;
extern const Script reap;
extern const Script promote;
extern const Script parse_error;
extern const Script counts;
extern const Script fields;
extern const Script orphans;
extern const Script rescue;
extern const Script dedupe;
extern const Script sweep;
extern const Script take;
extern const Script letters;
extern const Script drop_letters;

}  // namespace scripts
}  // namespace easyretry::mxrmq
