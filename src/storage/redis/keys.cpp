#include "storage/redis/keys.h"

#include <algorithm>
#include <mutex>

#include "base/random.h"

namespace easyretry::storage::redis {
namespace {

constexpr std::uint64_t kMostAhead = 1U << 16;  // milliseconds

}  // namespace

std::string stored_name(NameKind kind, std::string_view text) {
  return std::string{static_cast<char>(kind)}.append(":").append(text);
}

NameKind kind_for(TaskClass task_class) {
  switch (task_class) {
    case TaskClass::normal: return NameKind::handler;
    case TaskClass::urgent: return NameKind::urgent_handler;
    case TaskClass::background: return NameKind::background_handler;
  }
  return NameKind::handler;
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

TaskClass Names::class_of(unsigned handler) const {
  const std::shared_lock lock{mutex_};
  const auto found = stored_.find(handler);
  if (found == stored_.end()) return TaskClass::normal;
  switch (NameKind{found->second.front()}) {
    case NameKind::urgent_handler: return TaskClass::urgent;
    case NameKind::background_handler: return TaskClass::background;
    default: return TaskClass::normal;
  }
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

unsigned sequence_of(const task::KeyDigest& digest) {
  return unsigned{digest[0]} << 2U | unsigned{digest[1]} >> 6U;
}

double upper_bits(TaskId id) {
  return static_cast<double>(static_cast<std::int64_t>(id) >> task::kSequenceBits);
}

TaskId id_from(double upper, const task::KeyDigest& digest) {
  return TaskId{static_cast<std::int64_t>(upper) << task::kSequenceBits | sequence_of(digest)};
}

TaskIds::TaskIds() : ahead_(base::Random{base::random_seed()}.below(kMostAhead)) {}

TaskId TaskIds::next(TimePoint now, ShardId shard, unsigned sequence) {
  const auto number = static_cast<std::size_t>(shard);
  const std::lock_guard lock{mutex_};
  if (last_.size() <= number) last_.resize(number + 1);
  if (!last_[number]) last_[number] = std::make_unique<OfShard>();
  TimePoint& last = (*last_[number])[sequence];
  last = std::max(now + ahead_, last + Millis{1});
  return task::make_task_id(last, shard, sequence);
}

}  // namespace easyretry::storage::redis
