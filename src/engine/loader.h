#pragma once
// Reads what is due within the window from the owned shards into the Claimer's memory, by keyset pages, never
// changing a row. A pass goes from the earliest due task to the end of the window; passes follow each other at half a
// window, so new and abandoned tasks are seen in time; sooner when the store has news of other processes' tasks, or
// cannot have any. Now and then it also looks at every shard for tasks overdue by more than `grace`: what nobody else
// serves still gets its turn. Whether the inbox has something is answered with every page.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/ownership.h"
#include "engine/polling.h"
#include "engine/schedule.h"
#include "engine/shard_set.h"
#include "engine/step.h"

namespace easyretry::engine {

class Loader {
 public:
  // `inbox_waits` is called when the inbox has calls of handlers that are here.
  Loader(Context& context, Schedule& schedule, const storage::StoreInfo& store, std::function<void()> inbox_waits);

  Step step();
  void stop();
  // A pass starts with the next step. From any thread.
  void hurry();
  // Other processes have stored tasks that are due: a pass starts soon, and however often this is called, reading them
  // stays below a quarter of the time. From any thread.
  void look_soon();
  // Whether look_soon() will be called for other processes' tasks, so that there is no need to poll for them.
  void rely_on_news(bool there_are) { has_news_ = there_are; }
  // Other processes ask for something by plain SQL: they are looked after often for a while. From any thread.
  void something_came();
  // Tasks may appear in the next moments without a word, by transactions that are not ours: passes follow each other
  // quickly for a while. From any thread.
  void expect_more();
  // What this instance should look after; starts a pass if it is something else. False: it is not. From any thread.
  bool own(Ownership owned);
  std::shared_ptr<const Ownership> owned() const;

  // Due tasks of the last pass whose handler is not registered here, and that no member says to run.
  std::map<std::string, std::uint64_t> no_handler() const;

  Bell bell;

 private:
  void begin_pass();
  void end_pass();
  Instant::duration least_pause(Instant now) const;
  void report_unhandled();
  Result<storage::LoadReply> read(std::size_t room);
  void hand_over(const storage::LoadReply& reply);
  void take(const storage::LoadedTask& loaded, int number, Ownership::Role role, const storage::LoadReply& reply);
  // Of those that may run here now; negative for the others.
  std::vector<int> numbers_of(const std::vector<std::string>& names);
  Step pause();

  Context& context_;
  Schedule& schedule_;
  const ShardSet all_shards_;
  const bool shared_;  // other processes store tasks, too
  const bool has_inbox_;
  const std::function<void()> inbox_waits_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> hurry_{true};
  std::atomic<bool> news_{false};
  std::atomic<bool> has_news_{false};
  std::atomic<bool> came_{false};
  std::atomic<Instant> expecting_until_{Instant::min()};

  mutable std::mutex mutex_;
  std::shared_ptr<const Ownership> owned_;           // guarded by mutex_; itself it never changes
  std::map<std::string, std::uint64_t> no_handler_;  // guarded by mutex_; of the last whole pass

  // The loading thread's own
  std::vector<storage::ShardCursor> cursors_;       // shards still to be read in this pass
  std::map<std::string, std::uint64_t> unhandled_;  // of the pass under way
  std::vector<Offer> offers_;
  bool in_pass_ = false;
  bool passing_over_ = false;  // this pass met a page of which nothing is for this instance now
  bool sweeping_ = false;      // this pass looks at all shards, for what is overdue
  Instant pass_began_ = Instant::min();
  Instant::duration reading_{};  // of this pass, in the store
  Instant next_pass_ = Instant::min();
  Instant earliest_pass_ = Instant::min();  // for news
  Instant next_sweep_;
  Polling polling_;
  int failures_ = 0;
};

}  // namespace easyretry::engine
