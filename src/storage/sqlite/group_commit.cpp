#include "storage/sqlite/group_commit.h"

#include <utility>

namespace easyretry::storage::sqlite {
namespace {

// A group ends at this many rows, so that nobody waits behind more than a few batches of the engine.
constexpr std::size_t kRowsAGroup = 4000;

}  // namespace

// With a mutex of its own: dozens that are woken together must not all queue for the one of the group.
class GroupCommit::Entry::Sleeper {
 public:
  static std::shared_ptr<Sleeper> of_this_thread() {
    thread_local const auto sleeper = std::make_shared<Sleeper>();
    return sleeper;
  }
  void sleep() {
    std::unique_lock lock{mutex_};
    condition_.wait(lock, [this] { return std::exchange(woken_, false); });
  }
  void wake() {
    {
      const std::lock_guard lock{mutex_};
      woken_ = true;
    }
    condition_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

GroupCommit::Entry::Entry(std::size_t rows) : rows_(rows), sleeper_(Sleeper::of_this_thread()) {}

GroupCommit::GroupCommit(std::function<void(Group)> commit, std::function<void()> between)
    : commit_(std::move(commit)), between_(std::move(between)) {}

void GroupCommit::submit(Entry& entry) {
  bool leads = false;
  {
    const std::lock_guard lock{mutex_};
    queue_.push_back(&entry);
    leads = queue_.front() == &entry;
  }
  if (!leads) entry.sleeper_->sleep();
  if (!entry.done_) lead();
}

// The next group commits while the callers of this one are woken, which takes a while where they are many.
void GroupCommit::lead() {
  between_();
  const Group group = gather();
  commit_(group);
  Sleepers answered;
  if (const auto next = leave(group, answered)) next->wake();
  for (std::size_t i = 1; i < group.size(); ++i) answered[i]->wake();
}

GroupCommit::Group GroupCommit::gather() {
  const std::lock_guard lock{mutex_};
  std::size_t size = 0;
  std::size_t rows = 0;
  for (Entry* entry : queue_) {
    rows += entry->rows_;
    if (size == group_.size() || (size > 0 && rows > kRowsAGroup)) break;
    group_[size++] = entry;
  }
  return {group_.data(), size};
}

// Gives who leads now. From here on nothing of the group may be touched but the sleepers.
auto GroupCommit::leave(Group group, Sleepers& answered) -> std::shared_ptr<Entry::Sleeper> {
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 1; i < group.size(); ++i) {
    answered[i] = group[i]->sleeper_;
    group[i]->done_ = true;
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(group.size()));
  return queue_.empty() ? nullptr : queue_.front()->sleeper_;
}

}  // namespace easyretry::storage::sqlite
