#pragma once
// One change to every task that a query finds, in the background: one job after the other, in order of ids, each for no
// more tasks than were found when it was asked for, whatever has come since. A job that is broken off by a crash or a
// stop has changed some of them; asked for again, it goes on with the others.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/task_query.h>

namespace easyretry::server {

class Bulk {
 public:
  enum class State { waiting, running, done, stopped, failed };
  struct Job {
    std::string id;
    std::string action;
    State state = State::waiting;
    std::int64_t matched = 0;  // when it was asked for
    std::int64_t changed = 0;
    // They were not any more what the query says when it was their turn, or were changed by a call whose answer was
    // lost.
    std::int64_t skipped = 0;
    std::string error{};  // why it failed
    TimePoint asked_at{};
    std::optional<TimePoint> ended_at{};
  };
  struct Limits {
    std::size_t waiting = 10;
    std::size_t kept = 100;  // jobs that have ended
    std::size_t page = 500;
    Millis patience{30'000};  // with a store that does not answer
    Millis pause{500};        // before it is asked again
  };
  using List = std::function<Result<std::vector<TaskId>>(const TaskQuery& query)>;
  // False, of each: the task is not any more what it was.
  using Change = std::function<Result<std::vector<bool>>(std::span<const TaskId> ids)>;

  Bulk(const Clock& clock, List list, Limits limits);
  ~Bulk();  // close()
  Bulk(const Bulk&) = delete;
  Bulk& operator=(const Bulk&) = delete;

  // Throws Refusal when too many wait.
  Job begin(std::string action, TaskQuery query, std::int64_t matched, Change change);
  std::optional<Job> find(const std::string& id) const;
  std::vector<Job> all() const;
  // Before its next page. Nothing: there is no such job.
  std::optional<Job> stop(const std::string& id);
  // Breaks off what runs; what waits is stopped.
  void close();

 private:
  struct Work {
    Job job;
    TaskQuery query;
    Change change;
    bool stopping = false;
  };
  using WorkPtr = std::shared_ptr<Work>;

  void run();
  WorkPtr next();
  void run_job(Work& work);
  // True: on with the next page.
  bool run_page(Work& work);
  // While the store is away or leaves it in doubt: until there is an answer, patience is over, or the job is to be
  // stopped. All changes are safe to be asked for again.
  template <class Answer>
  Result<Answer> patiently(const Work& work, const std::function<Result<Answer>()>& ask);
  bool wait_unless_stopped(const Work& work, Millis time);
  void count(Work& work, const std::vector<bool>& changed);
  void end(Work& work, State state, std::string error = {});
  WorkPtr find_work(const std::string& id) const;
  void forget_the_oldest();

  const Clock& clock_;
  const List list_;
  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  std::deque<WorkPtr> works_;  // those that have ended first, then the one that runs, then those that wait
  std::uint64_t last_ = 0;
  bool closed_ = false;

  std::thread thread_;  // from the first job on
};

std::string name_of(Bulk::State state);

}  // namespace easyretry::server
