#include "storage/sqlite/group_commit.h"

#include <utility>

namespace easyretry::storage::sqlite {
namespace {

// A group ends at this many rows, so that nobody waits behind more than a few batches of the engine.
constexpr std::size_t kRowsAGroup = 4000;

}  // namespace

GroupCommit::GroupCommit(std::function<void(Group)> commit, std::function<void()> after)
    : commit_(std::move(commit)), after_(std::move(after)) {}

void GroupCommit::submit(Entry& entry) {
  std::unique_lock lock{mutex_};
  queue_.push_back(&entry);
  entry.woken_.wait(lock, [&] { return entry.done_ || queue_.front() == &entry; });
  if (entry.done_) return;

  const Group group = gather();
  lock.unlock();
  commit_(group);
  lock.lock();
  dismiss_followers(group);
  lock.unlock();
  after_();
  lock.lock();
  queue_.pop_front();
  if (!queue_.empty()) queue_.front()->woken_.notify_one();
}

GroupCommit::Group GroupCommit::gather() {
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
  for (Entry* follower : group.subspan(1)) {
    follower->done_ = true;
    follower->woken_.notify_one();
  }
  queue_.erase(queue_.begin() + 1, queue_.begin() + static_cast<std::ptrdiff_t>(group.size()));
}

}  // namespace easyretry::storage::sqlite
