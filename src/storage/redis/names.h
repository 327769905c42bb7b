#pragma once
// Numbers that stand for names, as far as this process has learned them: namespaces, handlers and backoffs are few,
// tasks are many. The store has them (lua/name.lua). Safe to use from any thread.

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace easyretry::storage::redis {

enum class NameKind : char { space = 's', handler = 'h', backoff = 'b' };

struct Name {
  unsigned number = 0;
  std::string text{};
};

// As the store has it: "s:shop".
std::string stored_name(NameKind kind, std::string_view text);

class Names {
 public:
  std::optional<unsigned> number(NameKind kind, std::string_view text) const;
  std::optional<std::string> text(unsigned number) const;
  std::vector<Name> all(NameKind kind) const;
  void learn(std::string_view stored, unsigned number);
  void forget();

 private:
  mutable std::shared_mutex mutex_;  // guards what follows
  std::map<std::string, unsigned, std::less<>> numbers_;
  std::map<unsigned, std::string> stored_;
};

}  // namespace easyretry::storage::redis
