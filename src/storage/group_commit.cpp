#include "storage/group_commit.h"

#include <utility>

namespace easyretry::storage {
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

GroupCommit::Entry::Entry(std::size_t rows, Answered when)
    : rows_(rows), when_(when), sleeper_(Sleeper::of_this_thread()) {}

// From here on it may be gone at any time.
void GroupCommit::Entry::answer() {
  const auto sleeper = sleeper_;
  done_ = true;
  sleeper->wake();
}

void GroupCommit::submit(Entry& entry) {
  bool leads = false;
  {
    const std::lock_guard lock{mutex_};
    queue_.push_back(&entry);
    leads = queue_.front() == &entry;
    if (queue_.size() == hardening_) company_.notify_one();
  }
  if (!leads) entry.sleeper_->sleep();
  if (!entry.done_) lead();
}

void GroupCommit::lead() {
  Entries entries;
  wait_for_company();
  steps_.between();
  const Group group = gather(entries);
  steps_.commit(group);
  if (const auto next = leave(group)) next->wake();
  answer(group);
}

void GroupCommit::wait_for_company() {
  std::unique_lock lock{mutex_};
  company_.wait(lock, [this] { return queue_.size() >= hardening_; });
}

// Those that wait for the disk last, and all but the leader, who needs no waking.
void GroupCommit::answer(Group group) {
  const Entry* const leader = group.front();
  Entries waiting;
  std::size_t count = 0;
  for (Entry* entry : group) {
    if (entry->when_ == Entry::Answered::on_disk) {
      waiting[count++] = entry;
    } else if (entry != leader) {
      entry->answer();
    }
  }
  if (count == 0) return;
  const Group hardened{waiting.data(), count};
  steps_.harden(hardened);
  on_disk(count);
  for (Entry* entry : hardened) {
    if (entry != leader) entry->answer();
  }
}

void GroupCommit::on_disk(std::size_t count) {
  const std::lock_guard lock{mutex_};
  hardening_ -= count;
  company_.notify_one();
}

GroupCommit::Group GroupCommit::gather(Entries& entries) {
  const std::lock_guard lock{mutex_};
  std::size_t size = 0;
  std::size_t rows = 0;
  for (Entry* entry : queue_) {
    rows += entry->rows_;
    if (size == entries.size() || (size > 0 && rows > kRowsAGroup)) break;
    entries[size++] = entry;
  }
  return {entries.data(), size};
}

// Gives who leads now.
auto GroupCommit::leave(Group group) -> std::shared_ptr<Entry::Sleeper> {
  const std::lock_guard lock{mutex_};
  for (const Entry* entry : group) hardening_ += entry->when_ == Entry::Answered::on_disk ? 1 : 0;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(group.size()));
  return queue_.empty() ? nullptr : queue_.front()->sleeper_;
}

}  // namespace easyretry::storage
