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

GroupCommit::GroupCommit(std::function<void(Group)> commit, std::function<void()> after)
    : commit_(std::move(commit)), after_(std::move(after)) {}

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

void GroupCommit::lead() {
  const Group group = gather();
  commit_(group);
  dismiss_followers(group);
  after_();
  std::shared_ptr<Entry::Sleeper> next;
  {
    const std::lock_guard lock{mutex_};
    queue_.pop_front();
    if (!queue_.empty()) next = queue_.front()->sleeper_;
  }
  if (next) next->wake();
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

// All but the leader, who stays at the head of the queue so that nobody else takes the lead yet.
void GroupCommit::dismiss_followers(Group group) {
  {
    const std::lock_guard lock{mutex_};
    queue_.erase(queue_.begin() + 1, queue_.begin() + static_cast<std::ptrdiff_t>(group.size()));
  }
  for (Entry* follower : group.subspan(1)) {
    const std::shared_ptr<Entry::Sleeper> sleeper = follower->sleeper_;
    follower->done_ = true;
    sleeper->wake();
  }
}

}  // namespace easyretry::storage::sqlite
