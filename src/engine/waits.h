#pragma once
// Callers that wait for tasks to end. No thread belongs to a wait: the answer goes to a function, and one part of the
// engine looks for all of them.
//
// The end of a task that this engine writes is seen at once. Ends that other instances write are found by looking: one
// question to the store for all tasks whose look is due, at most 100 questions a second. The looks at a task are 50 ms
// apart at first, then longer and longer, up to a second.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <easyretry/task.h>
#include <easyretry/time.h>

#include "base/result.h"
#include "engine/wakeup.h"
#include "task/record.h"

namespace easyretry::engine {

// Thread-safe, except for step().
class Waits {
 public:
  // Each takes about 300 bytes, and a record while it waits.
  static constexpr std::size_t kMost = 10'000;

  struct Answer {
    WaitEnd end = WaitEnd::unknown;
    std::optional<task::TaskRecord> record{};  // as it was last seen; if history does not keep it, only its info
  };
  // Called once, from any thread, with no lock held; must not block. An error: the store did not answer until the end
  // of the wait.
  using Done = std::function<void(Result<Answer>)>;
  using Find = std::function<Result<std::vector<task::TaskRecord>>(std::span<const TaskId> ids)>;

  explicit Waits(const Clock& clock) : clock_(clock) {}

  // Call both before the first wait. `begin` is called for every wait, and makes sure that step() is called after it.
  void find_with(Find find) { find_ = std::move(find); }
  void begin_with(std::function<void()> begin) { begin_ = std::move(begin); }

  // One wait. Ids come first, so that the waits for a task lie together.
  using Place = std::pair<TaskId, std::uint64_t>;
  // `unavailable`: too many wait.
  Result<Place> add(TaskId id, Instant until, Done done);
  // The caller has gone away. False: it already has its answer, or is just getting it.
  bool leave(const Place& place);

  bool any() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  // This engine has written the end of a task.
  void ended_here(const TaskInfo& task);
  // Makes all looks due. For an engine that is stepped manually.
  void look_now();

  Step step();
  // Answers all waits, and later ones at once.
  void close();

  Wakeup wakeup;

 private:
  struct Wait {
    Instant until{};
    Done done;
    Instant look{};                          // when the next look is due
    Millis pause{};                          // to the look after it
    bool again = false;                      // the task may have ended since the look began
    std::optional<task::TaskRecord> seen{};  // live
    std::optional<TaskInfo> ended{};         // by this engine
    std::optional<Error> error{};            // of the last look
  };
  using Answered = std::vector<std::pair<Done, Result<Answer>>>;

  std::set<TaskId> take_due(Instant now);  // under mutex_
  Instant next_look() const;               // under mutex_
  Answered judge(const std::set<TaskId>& asked, Result<std::vector<task::TaskRecord>> found);
  static std::optional<Result<Answer>> answer_of(Wait& wait, const task::TaskRecord* record, Instant now);

  const Clock& clock_;
  Find find_;
  std::function<void()> begin_ = [] {};
  std::atomic<std::size_t> waiting_{0};

  std::mutex mutex_;
  // Guarded by mutex_
  std::map<Place, Wait> waits_;
  std::uint64_t last_ = 0;
  Instant asked_ = Instant::min();  // when the store was last asked; min: long ago
  bool closed_ = false;
};

}  // namespace easyretry::engine
