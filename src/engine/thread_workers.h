#pragma once
// A pool of threads that run handlers, fair between kinds: each handler has its own queue and its own limit.
//
// How much is claimed ahead follows how quick handlers were lately: nothing beyond the free threads while they are slow
// (a claimed task that waits here is a task nobody else can run), thousands while they take microseconds.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/context.h"
#include "engine/outcomes.h"
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
  // Ends the threads; those still in a handler at `until` are left to themselves. Returns how many.
  std::size_t close(Instant until);

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;
  std::vector<std::thread> threads_;
};

}  // namespace easyretry::engine
