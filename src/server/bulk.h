#pragma once
// Bulk jobs: one change to every task that a query finds, in the background. Jobs run one after the other, in order of
// task ids, and change no more tasks than the query found at the start, or than allowed if it could not find all. A job
// that is interrupted by a crash or a stop has changed some of the tasks; started again, it continues with the others.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <easyretry/task.h>

#include "base/result.h"

namespace easyretry::server {

class Bulk {
 public:
  enum class State { waiting, running, done, stopped, failed };
  struct Job {
    std::string id;
    std::string action;
    State state = State::waiting;
    std::int64_t matched = 0;  // at the start
    bool complete = true;      // false: more tasks matched, and the number grows as the job finds them
    std::int64_t changed = 0;
    // These no longer matched the query, or were changed by a call whose reply was lost.
    std::int64_t skipped = 0;
    std::int64_t per_second = 0;                  // at most; 0: as many as the store can take
    std::map<std::string, std::string> filter{};  // the filter of the request; empty: everything
    std::string by{};                             // the token of the request
    std::string error{};                          // why it failed
    TimePoint asked_at{};
    std::optional<TimePoint> ended_at{};
  };
  struct Limits {
    std::size_t waiting = 10;
    std::size_t kept = 100;  // jobs that have ended
    std::size_t page = 500;
    Millis patience{30'000};  // for a store that does not answer
    Millis pause{500};        // between tries
  };
  struct Page {
    std::vector<TaskId> ids{};     // perhaps fewer than asked for
    std::optional<TaskId> next{};  // where to continue; nullopt: there are no more
  };
  using List = std::function<Result<Page>(const TaskQuery& query)>;
  // False: the task had already changed.
  using Change = std::function<Result<std::vector<bool>>(std::span<const TaskId> ids)>;

  Bulk(const Clock& clock, List list, Limits limits);
  ~Bulk();  // close()
  Bulk(const Bulk&) = delete;
  Bulk& operator=(const Bulk&) = delete;

  struct Order {
    std::string action;
    TaskQuery query{};
    std::int64_t matched = 0;
    bool complete = true;         // false: `matched` counts only the tasks found in the available time
    std::int64_t most = 0;        // how many tasks it may change if it is not complete
    std::int64_t per_second = 0;  // at a steady pace; 0: no limit
    Change change{};
    std::map<std::string, std::string> filter{};  // for display
    std::string by{};                             // for display
  };
  // Throws Refusal if too many jobs are waiting.
  Job begin(Order order);
  std::optional<Job> find(const std::string& id) const;
  std::vector<Job> all() const;
  // Stops the job before its next page. Nullopt if there is no such job.
  std::optional<Job> stop(const std::string& id);
  // Stops the running job and those that wait.
  void close();

 private:
  struct Work {
    Job job;
    TaskQuery query;
    Change change;
    bool stopping = false;
    std::int64_t most = 0;
    Instant next_page{};  // not before
  };
  using WorkPtr = std::shared_ptr<Work>;

  void run();
  WorkPtr next();
  void run_job(Work& work);
  // True: continue with the next page.
  bool run_page(Work& work);
  std::size_t page_of(const Work& work) const;
  // Repeats the call while the store is unavailable or the result is in doubt, until `patience` is over or the job is
  // stopped. All changes are safe to repeat.
  template <class Answer>
  Result<Answer> patiently(const Work& work, const std::function<Result<Answer>()>& ask);
  bool wait_unless_stopped(const Work& work, std::chrono::nanoseconds time);
  void count(Work& work, const std::vector<bool>& changed);
  void end(Work& work, State state, std::string error = {});
  WorkPtr find_work(const std::string& id) const;
  void drop_oldest();

  const Clock& clock_;
  const List list_;
  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  std::deque<WorkPtr> works_;  // finished ones, then the running one, then those that wait
  std::uint64_t last_ = 0;
  bool closed_ = false;

  std::thread thread_;  // started with the first job
};

std::string name_of(Bulk::State state);

}  // namespace easyretry::server
