#pragma once
// Writes of many threads, committed together: the price of a commit is the disk's, and it is the same for one write and
// for hundreds.
//
// Every caller queues its write and sleeps. The one at the head of the queue leads: it takes what has gathered, runs
// it, hands the lead to the next, and wakes the others. While a group commits, the next one gathers; a lone caller
// never waits for company. Safe to call from any thread.

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace easyretry::storage::sqlite {

class GroupCommit {
 public:
  // One caller's part of a group. Lives on the caller's stack until submit() returns.
  class Entry {
   public:
    explicit Entry(std::size_t rows);
    virtual ~Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class GroupCommit;
    class Sleeper;
    const std::size_t rows_;
    bool done_ = false;  // written before the sleeper is woken
    // Shared with whoever wakes it: the entry may be gone as soon as its caller is awake.
    const std::shared_ptr<Sleeper> sleeper_;
  };
  using Group = std::span<Entry* const>;

  // Neither may throw. `commit` answers every entry of the group; `between` runs before each commit, while nobody waits
  // for the last one any more.
  GroupCommit(std::function<void(Group)> commit, std::function<void()> between);

  // Returns when a commit has answered it. Throws std::bad_alloc, and then nothing was done.
  void submit(Entry& entry);

 private:
  static constexpr std::size_t kMost = 256;  // entries a group
  using Sleepers = std::array<std::shared_ptr<Entry::Sleeper>, kMost>;

  void lead();
  Group gather();
  std::shared_ptr<Entry::Sleeper> leave(Group group, Sleepers& answered);

  const std::function<void(Group)> commit_;
  const std::function<void()> between_;

  std::mutex mutex_;
  std::deque<Entry*> queue_;  // guarded by mutex_; the first one leads

  std::array<Entry*, kMost> group_{};  // the leader's own
};

}  // namespace easyretry::storage::sqlite
