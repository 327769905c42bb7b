#pragma once
// The threads of one topic: one takes messages, only as many as can be run at once, the others run them.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mxrmq/holdings.h"
#include "mxrmq/link.h"
#include "mxrmq/settler.h"

namespace easyretry::mxrmq {

struct CrewOptions {
  std::string topic;
  Worker::Handler handler;
  int concurrency = 5;
  std::string worker;  // what its tokens begin with
  Millis lease{};
  LogSink log;
};

class Crew {
 public:
  Crew(Link& link, Holdings& holdings, Settler& settler, CrewOptions options);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void stop_taking();  // returns when nothing more is taken, within a second or so
  void join();         // when what was taken has been run

 private:
  struct Job {
    Taken taken;
    std::int64_t now = 0;  // the server's, at the claim
    std::chrono::steady_clock::time_point claimed_at{};
    std::stop_token stop;
  };

  void take();
  void take_some(std::size_t most);
  void run_jobs();
  void run(const Job& job);
  void settle_failure(const Job& job, const Message& message, const std::string& error);
  std::size_t wait_for_room();
  bool stopping() const;

  Link& link_;
  Holdings& holdings_;
  Settler& settler_;
  const CrewOptions options_;
  std::int64_t claims_ = 0;  // the taker's alone

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int busy_ = 0;
  bool stopping_ = false;
  bool over_ = false;  // no job follows

  std::vector<std::jthread> runners_;
  std::jthread taker_;
};

}  // namespace easyretry::mxrmq
