#pragma once
// One compiled expression in its own Lua state: no libraries, no globals, 1 MiB at a time and 64 MiB in all, 100,000
// instructions per call.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <easyretry/detail/json_text.h>

#include "base/result.h"

struct lua_State;

namespace easyretry::policy {

inline constexpr std::size_t kLuaMemory = 1 << 20;
// Of a call, including freed memory: the time of an instruction that makes a string grows with its length, and looking
// it up in a table takes three times as long.
inline constexpr std::size_t kLuaAllocations = std::size_t{64} << 20;
// Ends every call: an empty loop after 0.5 ms, the worst case found (each instruction compares 300 KiB) after 0.7 s.
inline constexpr int kLuaInstructions = 100'000;

// Which members of a JSON object an expression can reach, so that the others need not be copied into Lua.
//
// Without libraries a table cannot be listed, so a member is reached by name only: `.name` or `["name"]`. If the
// expression has brackets only around plain numbers, as in args[1], every reachable name is one of its words.
class MentionedKeys {
 public:
  explicit MentionedKeys(std::string_view expression);
  bool contains(std::string_view key) const;

 private:
  bool any_ = false;
  std::vector<std::string> words_;  // keywords, and words in strings and comments, are included and do no harm
};

// Nothing, a JSON text, or a tree.
using LuaInput = std::variant<std::monostate, std::string_view, JsonView>;

// Not thread-safe, and cannot be moved: Lua keeps the address of the budget.
class LuaSandbox {
 public:
  // Throws std::invalid_argument if the text is not one expression over `result` and `args`.
  explicit LuaSandbox(const std::string& expression);
  LuaSandbox(const LuaSandbox&) = delete;
  LuaSandbox& operator=(const LuaSandbox&) = delete;

  // Which of the two the expression uses; the other need not be given.
  struct Reads {
    bool result = false;
    bool args = false;
  };
  Reads reads() const { return reads_; }

  // No input and null become nil, arrays start at 1, integers stay integers up to 2^63-1 and are floats above.
  // nullopt: a text that CanonicalReader cannot read; its tree is needed.
  std::optional<Result<bool>> call(const LuaInput& result, const LuaInput& args);

  // A call hit a limit. The state may be full of garbage; make a new one.
  bool spent() const { return spent_; }

  struct Budget {
    std::size_t used = 0;
    std::size_t allocated = 0;  // by this call
    bool out_of_instructions = false;
  };

 private:
  struct Close {
    void operator()(lua_State* state) const;
  };

  bool uses_globals(const std::string& parameters, const std::string& expression);
  void load(const std::string& chunk);
  std::string message() const;
  std::string failure(int status) const;

  const MentionedKeys keys_;
  Reads reads_;
  Budget budget_;
  std::unique_ptr<lua_State, Close> state_;  // the compiled function is at index 1 of its stack
  bool spent_ = false;
};

}  // namespace easyretry::policy
