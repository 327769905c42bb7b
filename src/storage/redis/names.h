#pragma once
// The numbers of names that this process has learned. Namespaces, handlers and backoffs are few and tasks are many, so
// tasks store numbers, which lua/name.lua assigns. Safe to use from any thread.

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

// As it is stored: "s:shop".
std::string stored_name(NameKind kind, std::string_view text);

class Names {
 public:
  std::optional<unsigned> number(NameKind kind, std::string_view text) const;
  std::optional<std::string> text(unsigned number) const;
  std::vector<Name> all(NameKind kind) const;
  void learn(std::string_view stored, unsigned number);
  void forget();

 private:
  mutable std::shared_mutex mutex_;  // guards the next two
  std::map<std::string, unsigned, std::less<>> numbers_;
  std::map<unsigned, std::string> stored_;
};

}  // namespace easyretry::storage::redis
