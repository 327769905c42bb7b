#pragma once
// A pool of threads that run handlers, fair between them: each handler has its own queue and its own limit.
//
// How many tasks are claimed ahead depends on how fast the handlers were lately: none beyond the free threads while
// they are slow (no other instance can run a claimed task that waits here), thousands while they take microseconds.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/context.h"
#include "engine/workers.h"

namespace easyretry::engine {

class ThreadWorkers final : public Workers {
 public:
  // The context and the outcomes are shared: a handler that hangs may outlive the engine.
  ThreadWorkers(std::shared_ptr<Context> context, std::shared_ptr<Outcomes> outcomes, std::size_t threads);
  ~ThreadWorkers() override;

  std::size_t room(HandlerNo handler, std::size_t concurrency, std::size_t coming) override;
  void take(std::vector<RunPtr> runs) override;
  std::size_t idle(HandlerNo handler, std::size_t concurrency) override;
  std::size_t size() const override { return threads_.size(); }
  std::size_t busy() const override;
  std::size_t waiting() const override;
  std::vector<RunPtr> take_waiting(const std::function<bool(const Run&)>& wanted) override;

  bool wait_idle(Instant until);
  // Ends the threads; those still in a handler at `until` are detached. Returns how many.
  std::size_t close(Instant until);

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;
  std::vector<std::thread> threads_;
};

}  // namespace easyretry::engine
