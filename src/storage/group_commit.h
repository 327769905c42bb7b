#pragma once
// Commits the writes of many threads together: a commit costs as much as the disk takes, for one write or for hundreds.
//
// Callers join a group and sleep. One caller of the oldest group leads: it closes the group, runs all its writes, hands
// the lead to a caller of the next group, waits for the disk, and wakes the others all at once. While a group commits,
// the next one collects callers. While it waits for the disk, the next one commits, but not before it is as large:
// callers that wait for the disk will soon be back, and two large groups in turns cost half as much as many small ones.
// A caller that is alone never waits for others. Safe to call from any thread.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

namespace easyretry::storage {

class GroupCommit {
 public:
  // One caller's part of a group. Lives on the caller's stack until submit() returns.
  class Entry {
   public:
    enum class Answered { at_commit, on_disk };
    Entry(std::size_t rows, Answered when) : rows_(rows), when_(when) {}
    virtual ~Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class GroupCommit;
    const std::size_t rows_;
    const Answered when_;
    std::atomic<bool> done_ = false;  // once it is true, the entry may be gone at any time
  };
  using Group = std::span<Entry* const>;

  // None of these may throw. One thread at a time calls `before_commit` and then `commit`, which answers every entry of
  // the group. Several threads at a time call `sync`, with the entries of a group that have to be on the disk.
  struct Steps {
    std::function<void(Group)> commit;
    std::function<void()> before_commit;
    std::function<void(Group)> sync;
  };
  explicit GroupCommit(Steps steps) : steps_(std::move(steps)) {}

  // Returns when the entry is answered. Throws std::bad_alloc; then nothing was done.
  void submit(Entry& entry);

 private:
  class WaitingGroup;
  using GroupPtr = std::shared_ptr<WaitingGroup>;

  GroupPtr join(Entry& entry);
  void lead(const Entry& leader);
  void wait_for_size();
  GroupPtr close_first();
  void hand_on(const WaitingGroup& led);
  void answer(WaitingGroup& group, const Entry& leader);
  void synced(std::size_t count);

  const Steps steps_;
  std::mutex mutex_;              // guards what follows
  std::deque<GroupPtr> groups_;   // the first one has a leader
  std::size_t waiting_ = 0;       // entries in groups_
  std::size_t syncing_ = 0;       // entries that wait for the disk
  std::condition_variable size_;  // waiting_ or syncing_ has changed
};

}  // namespace easyretry::storage
