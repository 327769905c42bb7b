#pragma once
// The scripts of lua/, each with lua/common.lua in it and with the literals of record_layout.def.
// cmake/lua_scripts.cmake generates their definitions.

#include <string_view>

namespace easyretry::storage::redis {

struct Script {
  std::string_view name;
  std::string_view sha;  // SHA-1 of the code, by which the server knows it
  std::string_view code;
};

namespace scripts {

extern const Script insert;
extern const Script load;
extern const Script claim;
extern const Script settle;
extern const Script renew;
extern const Script revise;
extern const Script find;
extern const Script name;
extern const Script beat;
extern const Script pause;
extern const Script resume;
extern const Script paused;
extern const Script trim;
extern const Script drop_results;
extern const Script expire;
extern const Script fold;

}  // namespace scripts
}  // namespace easyretry::storage::redis
