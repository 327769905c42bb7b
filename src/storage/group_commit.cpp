#include "storage/group_commit.h"

#include <algorithm>
#include <vector>

namespace easyretry::storage {
namespace {

// Limits of a group, so that no caller waits behind more than a few batches of the engine.
constexpr std::size_t kEntriesAGroup = 256;
constexpr std::size_t kRowsAGroup = 4000;

}  // namespace

// Callers that one commit answers. They sleep on one word: waking them all is one system call, and none of them runs
// before the last is awake. The leader shares ownership: when it wakes the others, their entries may be gone.
class GroupCommit::WaitingGroup {
 public:
  bool takes(std::size_t rows) const {
    return open_ && entries_.size() < kEntriesAGroup && (entries_.empty() || rows_ + rows <= kRowsAGroup);
  }
  void add(Entry& entry) {
    entries_.push_back(&entry);
    rows_ += entry.rows_;
  }
  void close() { open_ = false; }
  Group entries() const { return entries_; }
  // After the commit.
  void sort_by_answer() {
    first_on_disk_ = std::partition(entries_.begin(), entries_.end(),
                                    [](const Entry* entry) { return entry->when_ == Entry::Answered::at_commit; }) -
                     entries_.begin();
  }
  Group at_commit() const { return entries().first(static_cast<std::size_t>(first_on_disk_)); }
  Group on_disk() const { return entries().subspan(static_cast<std::size_t>(first_on_disk_)); }

  // True: the entry is not answered yet, and its caller becomes the leader.
  bool sleep(const Entry& entry) {
    for (;;) {
      const auto changes = changes_.load();
      if (entry.done_) return false;
      if (leader_wanted_.exchange(false)) return true;
      changes_.wait(changes);
    }
  }
  void wake_a_leader() {
    leader_wanted_ = true;
    ++changes_;
    changes_.notify_one();
  }
  void wake_all() {
    ++changes_;
    changes_.notify_all();
  }

 private:
  // Guarded by GroupCommit::mutex_ until the group is closed; then only the leader uses them
  std::vector<Entry*> entries_;
  std::size_t rows_ = 0;
  bool open_ = true;
  std::ptrdiff_t first_on_disk_ = 0;

  std::atomic<std::uint32_t> changes_ = 0;  // a sleeper looks again whenever it changes
  std::atomic<bool> leader_wanted_ = false;
};

void GroupCommit::submit(Entry& entry) {
  GroupPtr group;
  bool leads = false;
  {
    const std::lock_guard lock{mutex_};
    leads = groups_.empty();
    group = join(entry);
    if (waiting_ == syncing_) size_.notify_one();
  }
  if (leads || group->sleep(entry)) lead(entry);
}

auto GroupCommit::join(Entry& entry) -> GroupPtr {
  if (groups_.empty() || !groups_.back()->takes(entry.rows_)) {
    auto fresh = std::make_shared<WaitingGroup>();
    fresh->add(entry);
    groups_.push_back(std::move(fresh));  // never empty: an empty group would have no leader
  } else {
    groups_.back()->add(entry);
  }
  ++waiting_;
  return groups_.back();
}

void GroupCommit::lead(const Entry& leader) {
  wait_for_size();
  steps_.before_commit();
  const GroupPtr group = close_first();
  steps_.commit(group->entries());
  group->sort_by_answer();
  hand_on(*group);
  answer(*group, leader);
}

void GroupCommit::wait_for_size() {
  std::unique_lock lock{mutex_};
  size_.wait(lock, [this] { return waiting_ >= syncing_; });
}

auto GroupCommit::close_first() -> GroupPtr {
  const std::lock_guard lock{mutex_};
  groups_.front()->close();
  return groups_.front();
}

void GroupCommit::hand_on(const WaitingGroup& led) {
  GroupPtr next;
  {
    const std::lock_guard lock{mutex_};
    syncing_ += led.on_disk().size();
    waiting_ -= led.entries().size();
    groups_.pop_front();
    if (!groups_.empty()) next = groups_.front();
  }
  if (next) next->wake_a_leader();
}

void GroupCommit::answer(WaitingGroup& group, const Entry& leader) {
  const auto done = [&](Group entries) {
    bool others = false;
    for (Entry* entry : entries) {
      if (entry == &leader) continue;
      entry->done_ = true;
      others = true;
    }
    if (others) group.wake_all();
  };
  done(group.at_commit());
  const Group to_sync = group.on_disk();
  if (to_sync.empty()) return;
  steps_.sync(to_sync);
  synced(to_sync.size());
  done(to_sync);
}

void GroupCommit::synced(std::size_t count) {
  const std::lock_guard lock{mutex_};
  syncing_ -= count;
  size_.notify_one();
}

}  // namespace easyretry::storage
