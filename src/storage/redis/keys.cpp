#include "storage/redis/keys.h"

#include <mutex>

namespace easyretry::storage::redis {

std::string stored_name(NameKind kind, std::string_view text) {
  return std::string{static_cast<char>(kind)}.append(":").append(text);
}

std::optional<unsigned> Names::number(NameKind kind, std::string_view text) const {
  const std::shared_lock lock{mutex_};
  const auto found = numbers_.find(stored_name(kind, text));
  return found == numbers_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::string> Names::text(unsigned number) const {
  const std::shared_lock lock{mutex_};
  const auto found = stored_.find(number);
  return found == stored_.end() ? std::nullopt : std::optional{found->second.substr(2)};
}

std::vector<Name> Names::all(NameKind kind) const {
  const std::shared_lock lock{mutex_};
  std::vector<Name> names;
  for (const auto& [stored, number] : numbers_) {
    if (stored.front() == static_cast<char>(kind)) names.push_back({number, stored.substr(2)});
  }
  return names;
}

void Names::learn(std::string_view stored, unsigned number) {
  if (stored.size() < 2 || number == 0) return;
  const std::lock_guard lock{mutex_};
  numbers_.insert_or_assign(std::string{stored}, number);
  stored_.insert_or_assign(number, std::string{stored});
}

void Names::forget() {
  const std::lock_guard lock{mutex_};
  numbers_.clear();
  stored_.clear();
}

}  // namespace easyretry::storage::redis
