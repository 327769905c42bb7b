#pragma once
// Writes of many threads, committed together: the price of a commit is the disk's, and it is the same for one write and
// for hundreds.
//
// Every caller queues its write and sleeps. The one at the head of the queue leads: it takes what has gathered, runs
// it, hands the lead to the next, waits for the disk and wakes the others. While a group commits, the next one gathers,
// and while it waits for the disk, the next one commits, but not before it is as large: those on the disk are back
// soon, and two groups in turns cost half of what many small ones do. A lone caller never waits for company. Safe to
// call from any thread.

#include <array>
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
    Entry(std::size_t rows, Answered when);
    virtual ~Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class GroupCommit;
    class Sleeper;
    void answer();
    const std::size_t rows_;
    const Answered when_;
    bool done_ = false;  // written before the sleeper is woken
    // Shared with whoever wakes it: the entry may be gone as soon as its caller is awake.
    const std::shared_ptr<Sleeper> sleeper_;
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
  static constexpr std::size_t kMost = 256;  // entries a group
  using Entries = std::array<Entry*, kMost>;

  void lead();
  void wait_for_company();
  Group gather(Entries& entries);
  std::shared_ptr<Entry::Sleeper> leave(Group group);
  void answer(Group group);
  void on_disk(std::size_t count);

  const Steps steps_;
  std::mutex mutex_;
  std::deque<Entry*> queue_;   // guarded by mutex_; the first one leads
  std::size_t hardening_ = 0;  // guarded by mutex_; entries that wait for the disk
  std::condition_variable company_;
};

}  // namespace easyretry::storage
