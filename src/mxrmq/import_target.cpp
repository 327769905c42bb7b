#include "mxrmq/import_target.h"

#include <algorithm>
#include <chrono>

#include "policy/decide.h"
#include "policy/limits.h"

namespace easyretry::mxrmq {
namespace {

constexpr std::size_t kMaxKey = 255;  // the limit of the stores

[[noreturn]] void refuse_import(std::string why) {
  throw StoreError{{Errc::invalid_argument, "mxrmq.import", std::move(why)}};
}

template <class T, class E>
T must(tl::expected<T, E> result) {
  if (!result) throw StoreError{result.error()};
  return *std::move(result);
}

Backoff backoff_of(const Meta& meta) {
  Ladder ladder;
  for (const std::int64_t seconds : meta.retry_delays) {
    constexpr std::int64_t kLongest = std::chrono::floor<std::chrono::seconds>(policy::kLongestDelay).count();
    ladder.steps.emplace_back(std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, kLongest)});
  }
  if (ladder.steps.empty()) ladder.steps.emplace_back(std::chrono::seconds{60});  // Python's default
  return ladder;
}

int small(std::int64_t number) {
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, 1'000'000));
}

}  // namespace

task::NewTask ImportTarget::task_of(const std::string& id, const Message& message) const {
  if (id.size() > kMaxKey) {
    refuse_import("the id " + id.substr(0, 40) + "… has " + std::to_string(id.size()) +
                  " bytes, but a task key has at most 255: let a worker run this message");
  }
  task::NewTask task;
  task.name_space = namespace_;
  task.key = id;
  task.handler = message.topic;
  task.payload = "[" + message.payload + "]";
  task.rules.max_attempts = std::max(1, small(message.meta.max_retries));
  task.rules.backoff = policy::to_text(backoff_of(message.meta));
  task.attempts = small(message.meta.retry_count);
  return task;
}

std::vector<storage::Inserted> ImportTarget::insert(std::span<const task::NewTask> tasks) {
  return must(store_.insert(tasks)).tasks;
}

void ImportTarget::settle(std::span<const task::Settlement> settlements) {
  const storage::Applied reply = must(store_.settle(settlements));
  if (reply.trouble) throw StoreError{*reply.trouble};
  if (std::ranges::find(reply.applied, false) == reply.applied.end()) return;
  throw StoreError{
      {Errc::conflict, "mxrmq.import", "another process has changed the tasks of this import; run it again"}};
}

std::optional<task::TaskRecord> ImportTarget::with_key(const std::string& id, bool finished) {
  const TaskQuery query{.name_space = namespace_, .finished = finished, .key = id, .requeued = true, .limit = 1};
  auto found = must(store_.list(query));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::size_t ImportTarget::count_found(std::span<const TaskId> tasks) {
  return must(store_.find(tasks)).size();
}

}  // namespace easyretry::mxrmq
