#include "storage/group_commit.h"

#include <algorithm>
#include <vector>

namespace easyretry::storage {
namespace {

// A group ends at this many, so that nobody waits behind more than a few batches of the engine.
constexpr std::size_t kEntriesAGroup = 256;
constexpr std::size_t kRowsAGroup = 4000;

}  // namespace

// Callers that are answered by one commit. They sleep on one word: waking them is one system call, and none of them
// runs before the last is awake. It is shared with whoever wakes them, because its entries may be gone by then.
class GroupCommit::Gathering {
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
  // From when they have been committed on.
  void sort_by_answer() {
    first_on_disk_ = std::partition(entries_.begin(), entries_.end(),
                                    [](const Entry* entry) { return entry->when_ == Entry::Answered::at_commit; }) -
                     entries_.begin();
  }
  Group at_commit() const { return entries().first(static_cast<std::size_t>(first_on_disk_)); }
  Group on_disk() const { return entries().subspan(static_cast<std::size_t>(first_on_disk_)); }

  // True: the entry is still to be done, and its caller leads.
  bool sleep(const Entry& entry) {
    for (;;) {
      const auto news = news_.load();
      if (entry.done_) return false;
      if (leader_wanted_.exchange(false)) return true;
      news_.wait(news);
    }
  }
  void wake_a_leader() {
    leader_wanted_ = true;
    ++news_;
    news_.notify_one();
  }
  void wake_all() {
    ++news_;
    news_.notify_all();
  }

 private:
  // Until it is closed guarded by the group's mutex, and the leader's alone afterwards
  std::vector<Entry*> entries_;
  std::size_t rows_ = 0;
  bool open_ = true;
  std::ptrdiff_t first_on_disk_ = 0;

  std::atomic<std::uint32_t> news_ = 0;  // changes whenever there is something to look at
  std::atomic<bool> leader_wanted_ = false;
};

void GroupCommit::submit(Entry& entry) {
  GatheringPtr gathering;
  bool leads = false;
  {
    const std::lock_guard lock{mutex_};
    leads = gatherings_.empty();
    gathering = join(entry);
    if (waiting_ == hardening_) company_.notify_one();
  }
  if (leads || gathering->sleep(entry)) lead(entry);
}

auto GroupCommit::join(Entry& entry) -> GatheringPtr {
  if (gatherings_.empty() || !gatherings_.back()->takes(entry.rows_)) {
    auto fresh = std::make_shared<Gathering>();
    fresh->add(entry);
    gatherings_.push_back(std::move(fresh));  // never an empty one, which nobody would lead
  } else {
    gatherings_.back()->add(entry);
  }
  ++waiting_;
  return gatherings_.back();
}

void GroupCommit::lead(const Entry& leader) {
  wait_for_company();
  steps_.between();
  const GatheringPtr gathering = close_first();
  steps_.commit(gathering->entries());
  gathering->sort_by_answer();
  hand_on(*gathering);
  answer(*gathering, leader);
}

void GroupCommit::wait_for_company() {
  std::unique_lock lock{mutex_};
  company_.wait(lock, [this] { return waiting_ >= hardening_; });
}

auto GroupCommit::close_first() -> GatheringPtr {
  const std::lock_guard lock{mutex_};
  gatherings_.front()->close();
  return gatherings_.front();
}

void GroupCommit::hand_on(const Gathering& led) {
  GatheringPtr next;
  {
    const std::lock_guard lock{mutex_};
    hardening_ += led.on_disk().size();
    waiting_ -= led.entries().size();
    gatherings_.pop_front();
    if (!gatherings_.empty()) next = gatherings_.front();
  }
  if (next) next->wake_a_leader();
}

void GroupCommit::answer(Gathering& gathering, const Entry& leader) {
  const auto done = [&](Group entries) {
    bool others = false;
    for (Entry* entry : entries) {
      if (entry == &leader) continue;
      entry->done_ = true;
      others = true;
    }
    if (others) gathering.wake_all();
  };
  done(gathering.at_commit());
  const Group hardened = gathering.on_disk();
  if (hardened.empty()) return;
  steps_.harden(hardened);
  on_disk(hardened.size());
  done(hardened);
}

void GroupCommit::on_disk(std::size_t count) {
  const std::lock_guard lock{mutex_};
  hardening_ -= count;
  company_.notify_one();
}

}  // namespace easyretry::storage
