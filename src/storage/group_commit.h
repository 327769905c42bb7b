#pragma once
// Writes of many threads, committed together: the price of a commit is the disk's, and it is the same for one write and
// for hundreds.
//
// Callers gather, and sleep together. One of those who gathered first leads: it takes them all, runs them, hands the
// lead to one of those who gathered after them, waits for the disk and wakes the others, all at once. While a group
// commits, the next one gathers, and while it waits for the disk, the next one commits, but not before it is as large:
// those on the disk are back soon, and two groups in turns cost half of what many small ones do. A lone caller never
// waits for company. Safe to call from any thread.

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

  // None may throw. One thread at a time: `between`, and then `commit`, which answers every entry of the group. Several
  // at a time: `harden`, with those of a group that want to be on the disk.
  struct Steps {
    std::function<void(Group)> commit;
    std::function<void()> between;
    std::function<void(Group)> harden;
  };
  explicit GroupCommit(Steps steps) : steps_(std::move(steps)) {}

  // Returns when a commit has answered it. Throws std::bad_alloc, and then nothing was done.
  void submit(Entry& entry);

 private:
  class Gathering;
  using GatheringPtr = std::shared_ptr<Gathering>;

  GatheringPtr join(Entry& entry);
  void lead(const Entry& leader);
  void wait_for_company();
  GatheringPtr close_first();
  void hand_on(const Gathering& led);
  void answer(Gathering& gathering, const Entry& leader);
  void on_disk(std::size_t count);

  const Steps steps_;
  std::mutex mutex_;                     // guards what follows
  std::deque<GatheringPtr> gatherings_;  // of the first one somebody leads, if there is any
  std::size_t waiting_ = 0;              // entries in gatherings_
  std::size_t hardening_ = 0;            // entries that wait for the disk
  std::condition_variable company_;
};

}  // namespace easyretry::storage
