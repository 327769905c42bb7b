#pragma once
// One compiled expression in a Lua state of its own: no libraries, no globals, 1 MiB at a time and 64 MiB in all,
// 100,000 instructions a call.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <easyretry/error.h>
#include <easyretry/json_text.h>

#include "policy/mentioned_keys.h"

struct lua_State;

namespace easyretry::policy {

inline constexpr std::size_t kLuaMemory = 1 << 20;
// Of a call, with what it has given back: an instruction that makes a text takes as long as the text is, and another
// one that looks it up in a table three times that.
inline constexpr std::size_t kLuaAllocations = std::size_t{64} << 20;
// Ends every call: an empty loop after 0.5 ms, the worst found (each instruction compares 300 KiB of text) after 0.7 s.
inline constexpr int kLuaInstructions = 100'000;

// Nothing, a JSON text, or a tree.
using LuaInput = std::variant<std::monostate, std::string_view, JsonView>;

// Not safe to share between threads, and not to be moved: Lua keeps the address of the budget.
class LuaSandbox {
 public:
  // Throws std::invalid_argument where the text is not one expression over `result` and `args`.
  explicit LuaSandbox(const std::string& expression);
  LuaSandbox(const LuaSandbox&) = delete;
  LuaSandbox& operator=(const LuaSandbox&) = delete;

  // Which of the two the expression looks at; the other need not be given.
  struct Reads {
    bool result = false;
    bool args = false;
  };
  Reads reads() const { return reads_; }

  // No input and null become nil, arrays start at 1, integers stay integers up to 2^63-1 and are floats above.
  // nullopt: a text that CanonicalReader does not know; its tree is needed.
  std::optional<Result<bool>> call(const LuaInput& result, const LuaInput& args);

  // A call ran into a limit. The state may be full of what the call left behind; make a new one.
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
