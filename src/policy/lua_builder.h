#pragma once
// Builds a Lua value from the tokens of a JSON value, without the members that the expression cannot reach.

#include <cstdint>
#include <string_view>

#include <lua.hpp>

#include <easyretry/detail/json_text.h>

#include "policy/lua_sandbox.h"

namespace easyretry::policy {

// Called by CanonicalReader or by a walk over a tree; in the end the value is on top of Lua's stack. False: too deep.
// Runs where Lua's errors skip destructors, and has none.
class LuaBuilder {
 public:
  LuaBuilder(lua_State* lua, const MentionedKeys& keys) : lua_(lua), keys_(keys) {}

  bool null() {
    return add([&] { lua_pushnil(lua_); });
  }
  bool boolean(bool value) {
    return add([&] { lua_pushboolean(lua_, value); });
  }
  bool number_integer(std::int64_t value) {
    return add([&] { lua_pushinteger(lua_, value); });
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return number_float(static_cast<double>(value), {});
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, std::string_view) {
    return add([&] { lua_pushnumber(lua_, value); });
  }
  bool string(std::string_view value) {
    return add([&] { push_text(value); });
  }

  bool start_array(std::size_t size) { return open(kFirstIndex, static_cast<int>(size)); }
  bool start_object(std::size_t) { return open(kObject, 0); }
  bool end_array() { return close(); }
  bool end_object() { return close(); }

  bool key(std::string_view name) {
    if (skipping()) return true;
    if (reaches(name)) {
      push_text(name);
    } else {
      skipped_in_ = depth_;
    }
    return true;
  }

  bool reaches(std::string_view name) const { return keys_.contains(name); }

 private:
  static constexpr int kObject = 0;
  static constexpr int kFirstIndex = 1;

  bool skipping() const { return skipped_in_ > 0; }

  void push_text(std::string_view text) { lua_pushlstring(lua_, text.data(), text.size()); }

  template <class Push>
  bool add(Push push) {
    if (!skipping()) push();
    return added();
  }

  bool open(int next, int size) {
    if (depth_ == kJsonDepth) return false;
    next_[depth_++] = next;
    if (skipping()) return true;
    luaL_checkstack(lua_, 3, nullptr);  // the table, a key and its value
    lua_createtable(lua_, size, 0);
    return true;
  }

  bool close() {
    --depth_;
    return added();
  }

  bool added() {
    if (skipping()) {
      if (skipped_in_ == depth_) skipped_in_ = 0;
    } else if (depth_ > 0) {
      put_in(next_[depth_ - 1]);
    }
    return true;
  }

  void put_in(int& next) {
    if (next == kObject) {
      lua_rawset(lua_, -3);
    } else {
      lua_rawseti(lua_, -2, next++);
    }
  }

  lua_State* const lua_;
  const MentionedKeys& keys_;
  std::size_t depth_ = 0;
  std::size_t skipped_in_ = 0;  // depth of the object whose member is being skipped with all its content; or 0
  int next_[kJsonDepth];        // index in each open array, or kObject
};

}  // namespace easyretry::policy
