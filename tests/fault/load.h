#pragma once
// A client that submits one task for each shard, again and again, while processes come and go; and the processes that
// have ended them so far.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fault/crew.h"
#include "fault/shares.h"
#include "fault/work.h"

namespace easyretry::fault {

// One for each shard, in their order.
const std::vector<std::string>& business_ids();

class SteadyLoad {
 public:
  static constexpr Millis kBetweenRounds{200};

  // Begins at once, as a life of the crew.
  SteadyLoad(const std::string& url, Crew& crew, Millis between_rounds = kBetweenRounds);
  ~SteadyLoad() { end(); }
  SteadyLoad(const SteadyLoad&) = delete;
  SteadyLoad& operator=(const SteadyLoad&) = delete;

  void end();
  int first() const { return first_; }
  // The number of the first task that is not yet submitted. Each round has one task a shard, in their order.
  int next() const { return next_; }

 private:
  SteadyLoad(const std::string& url, Crew& crew, int life, Millis between_rounds);
  void run(const std::stop_token& stop);
  void submit_round();

  const Millis between_rounds_;
  JournalWriter journal_;
  Engine engine_;  // never started: it submits
  const RetryableFn<Answer(int)> work_;
  const int first_;
  std::atomic<int> next_;
  std::mutex mutex_;
  std::condition_variable_any pause_;
  std::jthread thread_;  // last: uses the others
};

// Looks at the journals of a crew; each look reads only what is new.
class Ends {
 public:
  explicit Ends(Crew& crew) : crew_(crew) {}
  // The life that has ended each task, by the task's number.
  const std::map<int, int>& look();
  // All tasks from one number to before another have ended.
  bool all_of(int from, int to);
  // How many of them each life has ended, where it has ended any.
  std::map<int, int> by_life(int from, int to);

 private:
  Crew& crew_;
  std::vector<std::size_t> read_;  // of each life's events
  std::map<int, int> ended_;
};

// How long it takes until every shard is served, and until everything from before has ended, too.
struct Takeover {
  Millis served{};
  Millis finished{};
};
// From now on. Prints it; fails the test where it never comes to that.
Takeover time_takeover(const SteadyLoad& load, Ends& ends);

}  // namespace easyretry::fault
