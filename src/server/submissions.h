#pragma once
// Groups requests to store tasks: all requests that arrive during one write are written together next.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/core.h"

namespace easyretry::server {

class Submissions {
 public:
  using Done = std::function<void(Result<std::vector<storage::Inserted>>)>;

  Submissions(engine::Core& core, std::size_t most_waiting);
  ~Submissions();  // waits until all requests are answered
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;

  // Stores all of the tasks or none. `done` is called on the thread of this object and must be quick. False: the queue
  // is full.
  bool put(std::vector<task::NewTask> tasks, Done done);

 private:
  struct Request {
    std::vector<task::NewTask> tasks;
    Done done;
  };

  void work();
  std::vector<Request> next_batch();
  void store(std::vector<Request>& batch);
  void store_each(std::vector<Request>& batch);

  engine::Core& core_;
  const std::size_t most_waiting_;  // tasks
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  std::vector<Request> waiting_;
  std::size_t tasks_waiting_ = 0;
  bool closing_ = false;

  std::thread thread_;
};

}  // namespace easyretry::server
