#pragma once
// Reads the tasks that are due within the window from the owned shards into the Schedule, by keyset pages, and never
// changes a row. A pass goes from the earliest due task to the end of the window. Passes follow each other every half
// window, so that new and abandoned tasks are seen in time; sooner if the store has news of other processes' tasks, or
// cannot have any. From time to time a pass reads every shard for tasks overdue by more than `grace`, so that those
// that no other instance serves get their turn. Each page also tells whether the inbox has rows.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/ownership.h"
#include "engine/schedule.h"

namespace easyretry::engine {

// How often a store without news of other processes' tasks is polled: often while tasks come, rarely when none has come
// for a while. An idle instance then makes less than one request per second in all.
class PollPace {
 public:
  void found(Instant now) { found_ = now; }

  Instant::duration pause(Instant now, Millis poll) const {
    constexpr auto kQuietAfter = std::chrono::seconds{10};
    constexpr int kRarely = 8;
    return now < found_ + kQuietAfter ? poll : kRarely * poll;
  }

 private:
  Instant found_{};  // the last time that something had come
};

class Loader {
 public:
  // `inbox_waits` is called when the inbox has rows for handlers that are registered here.
  Loader(Context& context, Schedule& schedule, const storage::StoreInfo& store, std::function<void()> inbox_waits);

  Step step();
  void stop();
  // A pass starts with the next step. From any thread.
  void hurry();
  // Other processes have stored tasks that are due: a pass starts soon. However often this is called, reading takes
  // less than a quarter of the time. From any thread.
  void look_soon();
  // Whether look_soon() will be called for other processes' tasks, so that polling is not needed.
  void rely_on_news(bool there_are) { has_news_ = there_are; }
  // Other processes submit by plain SQL: polling is frequent for a while. From any thread.
  void something_came();
  // Tasks may appear in the next moments without news, by transactions that are not ours: passes follow each other
  // quickly for a while. From any thread.
  void expect_more();
  // Sets what this instance owns from now on; starts a pass if that is a change. False: it is not. From any thread.
  bool own(Ownership owned);
  std::shared_ptr<const Ownership> owned() const;

  // Due tasks of the last pass whose handler is not registered here, and that no member claims to run.
  std::map<std::string, std::uint64_t> no_handler() const;

  Wakeup wakeup;

 private:
  void begin_pass();
  void end_pass();
  Instant::duration least_pause(Instant now) const;
  void report_unhandled();
  Result<storage::LoadReply> read(std::size_t room);
  void hand_over(const storage::LoadReply& reply);
  // A handler of the page.
  struct Named {
    int number = 0;  // negative: it may not run here now
    bool keeps_retries_apart = false;
  };
  void take(const DueTask& loaded, const Named& handler, Ownership::Role role, const storage::LoadReply& reply);
  std::vector<Named> handlers_of(const std::vector<std::string>& names);
  bool takes_room(const DueTask& loaded, const Named& handler);
  Step pause();

  Context& context_;
  Schedule& schedule_;
  const ShardSet all_shards_;
  const bool shared_;  // other processes store tasks too
  const bool has_inbox_;
  const std::function<void()> inbox_waits_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> hurry_{true};
  std::atomic<bool> news_{false};
  std::atomic<bool> has_news_{false};
  std::atomic<bool> came_{false};
  std::atomic<Instant> expecting_until_{Instant::min()};

  mutable std::mutex mutex_;
  std::shared_ptr<const Ownership> owned_;           // guarded by mutex_; the object itself never changes
  std::map<std::string, std::uint64_t> no_handler_;  // guarded by mutex_; of the last complete pass

  // Used only by the loading thread
  std::vector<storage::ShardCursor> cursors_;       // shards still to be read in this pass
  std::map<std::string, std::uint64_t> unhandled_;  // of the current pass
  std::vector<DueTask> offers_;
  // Room for more tasks of this page in each line, by handler (in the order of the page) and class; nullopt: not asked
  // yet.
  std::vector<std::optional<std::size_t>> room_;
  bool left_out_ = false;  // there was no room for a task of this page
  bool in_pass_ = false;
  bool passing_over_ = false;  // this pass had a page with tasks that this instance could not take
  bool sweeping_ = false;      // this pass reads all shards, for overdue tasks
  Instant pass_began_ = Instant::min();
  Instant::duration reading_{};  // of this pass, in the store
  Instant next_pass_ = Instant::min();
  Instant earliest_pass_ = Instant::min();  // for news
  Instant next_sweep_;
  PollPace poll_pace_;
  int failures_ = 0;
};

}  // namespace easyretry::engine
