#pragma once
// Writes of many threads, committed together: the price of a commit is the disk's, and it is the same for one write and
// for hundreds.
//
// Every caller queues its write and sleeps. The one at the head of the queue leads: it takes what has gathered, runs
// it, wakes the others, and hands the lead to the next. While a group commits, the next one gathers; a lone caller
// never waits for company. Safe to call from any thread.

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>

namespace easyretry::storage::sqlite {

class GroupCommit {
 public:
  // One caller's part of a group. Lives on the caller's stack until submit() returns.
  class Entry {
   public:
    explicit Entry(std::size_t rows) : rows_(rows) {}
    virtual ~Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class GroupCommit;
    const std::size_t rows_;
    bool done_ = false;              // guarded by GroupCommit::mutex_
    std::condition_variable woken_;  // done, or first in the queue
  };
  using Group = std::span<Entry* const>;

  // Neither may throw. `commit` answers every entry of the group; `after` runs while the followers are already gone.
  GroupCommit(std::function<void(Group)> commit, std::function<void()> after);

  // Returns when a commit has answered it. Throws std::bad_alloc, and then nothing was done.
  void submit(Entry& entry);

 private:
  Group gather();
  void dismiss_followers(Group group);

  const std::function<void(Group)> commit_;
  const std::function<void()> after_;

  std::mutex mutex_;
  std::deque<Entry*> queue_;         // guarded by mutex_; the first one leads
  std::array<Entry*, 256> group_{};  // only the leader touches it
};

}  // namespace easyretry::storage::sqlite
