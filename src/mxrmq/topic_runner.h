#pragma once
// The threads of one topic: one claims messages, only as many as can run at once, and the others run them.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mxrmq/link.h"
#include "mxrmq/settler.h"
#include "mxrmq/worker_state.h"

namespace easyretry::mxrmq {

struct TopicRunnerOptions {
  std::string topic;
  Worker::Handler handler;
  int concurrency = 5;
  std::string worker;  // prefix of its tokens
  Millis lease{};
  LogSink log;
};

class TopicRunner {
 public:
  TopicRunner(QueueConnection& link, HeldMessages& held, Settler& settler, TopicRunnerOptions options);
  ~TopicRunner();
  TopicRunner(const TopicRunner&) = delete;
  TopicRunner& operator=(const TopicRunner&) = delete;

  void stop_taking();  // returns when no more messages are claimed, within about a second
  void join();         // returns when all claimed messages have run

 private:
  struct Job {
    LeasedMessage taken;
    std::int64_t now = 0;  // the server's time at the claim
    std::chrono::steady_clock::time_point claimed_at{};
    std::stop_token stop;
  };

  void take();
  void take_some(std::size_t most);
  void run_jobs();
  void run(const Job& job);
  Answer answer_to(const Job& job, const Message& message) const;
  void settle_failure(const Job& job, const Message& message, const Answer& answer);
  std::size_t wait_for_room();
  bool stopping() const;

  QueueConnection& link_;
  HeldMessages& held_messages_;
  Settler& settler_;
  const TopicRunnerOptions options_;
  std::int64_t claims_ = 0;  // used by taker_ only

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int busy_ = 0;
  bool stopping_ = false;
  bool over_ = false;  // no more jobs will come

  std::vector<std::jthread> runners_;
  std::jthread taker_;
};

}  // namespace easyretry::mxrmq
