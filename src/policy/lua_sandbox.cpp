// Lua reports errors, such as running out of memory, with longjmp, which skips C++ destructors. So everything that may
// allocate runs under lua_load or lua_pcall, and the frames between have nothing with a destructor.

#include "policy/lua_sandbox.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <type_traits>

#include <lua.hpp>

#include "base/canonical_reader.h"
#include "policy/lua_builder.h"

namespace easyretry::policy {
namespace {

constexpr const char* kWhere = "policy.success_when";

using Budget = LuaSandbox::Budget;

void* allocate(void* budget_pointer, void* block, std::size_t old_size, std::size_t new_size) {
  auto& budget = *static_cast<Budget*>(budget_pointer);
  const std::size_t held = block == nullptr ? 0 : old_size;  // for a new block old_size is a type tag
  if (new_size > held) {
    if (new_size - held > kLuaMemory - budget.used) return nullptr;
    budget.allocated += new_size - held;
    if (budget.allocated > kLuaAllocations) return nullptr;
  }
  if (new_size == 0) {
    std::free(block);
    budget.used -= held;
    return nullptr;
  }
  void* const moved = std::realloc(block, new_size);
  if (moved != nullptr) budget.used = budget.used - held + new_size;
  return moved;
}

// The expression has no pcall to catch this with.
void stop_running(lua_State* lua, lua_Debug*) {
  void* budget = nullptr;
  lua_getallocf(lua, &budget);
  static_cast<Budget*>(budget)->out_of_instructions = true;
  luaL_error(lua, "too many instructions");
}

bool walk(JsonView value, LuaBuilder& out);

bool walk_integer(JsonView value, LuaBuilder& out) {
  return value.as_double() < 0 ? out.number_integer(value.as_int()) : out.number_unsigned(value.as_uint());
}

bool walk_array(JsonView array, LuaBuilder& out) {
  out.start_array(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) walk(array.at(i), out);
  return out.end_array();
}

bool walk_object(JsonView object, LuaBuilder& out) {
  out.start_object(object.size());
  for (const auto [key, value] : object.members()) {
    if (!out.reaches(key)) continue;
    out.key(key);
    walk(value, out);
  }
  return out.end_object();
}

bool walk(JsonView value, LuaBuilder& out) {
  switch (value.kind()) {
    case JsonKind::null: return out.null();
    case JsonKind::boolean: return out.boolean(value.as_bool());
    case JsonKind::integer: return walk_integer(value, out);
    case JsonKind::number: return out.number_float(value.as_double(), {});
    case JsonKind::string: return out.string(value.as_string());
    case JsonKind::array: return walk_array(value, out);
    case JsonKind::object: return walk_object(value, out);
  }
  return false;
}

bool push(lua_State* lua, const LuaInput& input, const MentionedKeys& keys) {
  LuaBuilder out{lua, keys};
  if (const auto* text = std::get_if<std::string_view>(&input)) return base::CanonicalReader{*text, out}.read();
  if (const auto* tree = std::get_if<JsonView>(&input)) return walk(*tree, out);
  return out.null();
}

struct Call {
  const LuaInput& result;
  const LuaInput& args;
  const MentionedKeys& keys;
  bool readable = false;
  int answer_type = LUA_TNIL;
  bool answer = false;
};
static_assert(std::is_trivially_destructible_v<Call> && std::is_trivially_destructible_v<LuaBuilder> &&
              std::is_trivially_destructible_v<base::CanonicalReader<LuaBuilder>> &&
              std::is_trivially_destructible_v<JsonMembers>);

// Runs under lua_pcall with the compiled function and a Call.
int run(lua_State* lua) {
  auto& call = *static_cast<Call*>(lua_touserdata(lua, 2));
  lua_pushvalue(lua, 1);
  call.readable = push(lua, call.result, call.keys) && push(lua, call.args, call.keys);
  if (!call.readable) return 0;
  lua_call(lua, 2, 1);
  call.answer_type = lua_type(lua, -1);
  call.answer = lua_toboolean(lua, -1) != 0;
  return 0;
}

// As in Lua, whatever the locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

std::size_t skip(std::string_view text, std::size_t at, bool (*kind)(char)) {
  while (at < text.size() && kind(text[at])) ++at;
  return at;
}

bool is_plain_index(std::string_view text, std::size_t bracket) {
  const std::size_t end = skip(text, bracket + 1, &is_digit);
  return end > bracket + 1 && end < text.size() && text[end] == ']';
}

lua_State* new_state(lua_Alloc allocate, void* budget) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(allocate, budget, luaL_makeseed(nullptr));
#else
  return lua_newstate(allocate, budget);
#endif
}

}  // namespace

MentionedKeys::MentionedKeys(std::string_view expression) {
  for (std::size_t at = 0; at < expression.size();) {
    if (expression[at] == '[' && !is_plain_index(expression, at)) any_ = true;
    const std::size_t end = skip(expression, at, &is_word);
    if (end > at) words_.emplace_back(expression.substr(at, end - at));
    at = std::max(end, at + 1);
  }
}

bool MentionedKeys::contains(std::string_view key) const {
  return any_ || std::find(words_.begin(), words_.end(), key) != words_.end();
}

void LuaSandbox::Close::operator()(lua_State* state) const {
  lua_close(state);
}

// Two texts are compiled, and only a single expression fits both: after a bare `return`, a parenthesis that was not
// opened cannot be closed ("1) or (2"), and between parentheses a list ("1, 2"), a semicolon or nothing is an error.
// `result` and `args` are parameters, so any other name is a global, and a function that uses globals has an upvalue
// (_ENV). That finds misspelt names and calls of libraries before the first task fails because of them, and, with one
// parameter left out, whether that one is used.
LuaSandbox::LuaSandbox(const std::string& expression) : keys_(expression), state_(new_state(&allocate, &budget_)) {
  if (!state_) throw std::bad_alloc();
  try {
    load("return " + expression + "\n");
    reads_ = {.result = uses_globals("args", expression), .args = uses_globals("result", expression)};
    if (uses_globals("result, args", expression)) {
      throw std::invalid_argument("it uses a name other than result and args, which are the only ones available");
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        std::string{kWhere} + " = \"" + expression + "\": " + error.what() +
        "; write one Lua 5.4 expression, such as result.code == 200 and result.state ~= \"CLOSED\"");
  }
}

// Leaves the function alone on the stack.
bool LuaSandbox::uses_globals(const std::string& parameters, const std::string& expression) {
  lua_State* const lua = state_.get();
  load("return function(" + parameters + ") return (" + expression + "\n) end");
  if (lua_pcall(lua, 0, 1, 0) != LUA_OK) throw std::invalid_argument(message());
  const bool found = lua_getupvalue(lua, 1, 1) != nullptr;
  lua_settop(lua, 1);
  return found;
}

void LuaSandbox::load(const std::string& chunk) {
  lua_settop(state_.get(), 0);
  constexpr const char* kTextOnly = "t";  // bytecode can crash the interpreter
  if (luaL_loadbufferx(state_.get(), chunk.data(), chunk.size(), "=success_when", kTextOnly) != LUA_OK) {
    throw std::invalid_argument(message());
  }
}

// Looks at the type first, because lua_tolstring would allocate for a number.
std::string LuaSandbox::message() const {
  lua_State* const lua = state_.get();
  return lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "an error without a message";
}

std::string LuaSandbox::failure(int status) const {
  if (budget_.out_of_instructions) return "stopped after " + std::to_string(kLuaInstructions) + " instructions";
  if (budget_.allocated > kLuaAllocations) {
    return "stopped after " + std::to_string(kLuaAllocations >> 20U) + " MiB of values that it made";
  }
  if (status == LUA_ERRMEM) return "needs more than " + std::to_string(kLuaMemory / 1024) + " KiB of memory";
  return message();
}

std::optional<Result<bool>> LuaSandbox::call(const LuaInput& result, const LuaInput& args) {
  lua_State* const lua = state_.get();
  Call call{.result = result, .args = args, .keys = keys_};
  lua_settop(lua, 1);
  budget_.allocated = 0;
  lua_sethook(lua, &stop_running, LUA_MASKCOUNT, kLuaInstructions);  // also starts the count anew
  lua_pushcfunction(lua, &run);
  lua_pushvalue(lua, 1);
  lua_pushlightuserdata(lua, &call);
  if (const int status = lua_pcall(lua, 2, 0, 0); status != LUA_OK) {
    spent_ = status != LUA_ERRRUN || budget_.out_of_instructions;
    return fail(Errc::invalid_argument, kWhere, failure(status));
  }
  if (!call.readable) return std::nullopt;
  if (call.answer_type != LUA_TBOOLEAN) {
    return fail(Errc::invalid_argument, kWhere,
                std::string{"gave "} + lua_typename(lua, call.answer_type) +
                    " instead of true or false; compare it, as in result.code == 200");
  }
  return call.answer;
}

}  // namespace easyretry::policy
