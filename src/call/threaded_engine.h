#pragma once
// The engine of an application: with threads, on the machine's clock.

#include <condition_variable>
#include <memory>
#include <mutex>

#include "call/engine_impl.h"

namespace easyretry::call {

// Opened once, by stop(), which ends all waits.
class Latch {
 public:
  // True: the whole delay has passed.
  bool wait(Millis delay);
  void open();

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;  // guarded by mutex_
};

class ThreadedEngine : public detail::EngineImpl {
 public:
  ThreadedEngine(std::shared_ptr<storage::Store> store, const Config& config, ExceptionNames names);
  ~ThreadedEngine() override;  // stop()

  void start() override;
  void stop() override;

 protected:
  // Under the lock of start() and stop(), each called once. For an engine that gets its tasks in another way.
  virtual std::unique_ptr<engine::Threads> begin();
  virtual void end(engine::Threads& threads);
  bool wait(Millis delay) override { return stopping_.wait(delay); }

 private:
  void keep_leases() override;
  void watch_waits();

  std::mutex mutex_;
  Latch stopping_;
  bool stopped_ = false;                      // guarded by mutex_
  std::unique_ptr<engine::Threads> threads_;  // guarded by mutex_

  std::mutex waits_mutex_;
  std::unique_ptr<engine::RunLoop> watching_waits_;  // guarded by waits_mutex_; ends with this engine

  std::mutex leases_mutex_;
  engine::Wakeup leases_wakeup_;
  std::unique_ptr<engine::RunLoop> keeping_leases_;  // guarded by leases_mutex_; besides the Renewer's own thread
};

std::shared_ptr<detail::EngineImpl> threaded_engine(std::shared_ptr<storage::Store> store, const Config& config,
                                                    ExceptionNames names);

}  // namespace easyretry::call
