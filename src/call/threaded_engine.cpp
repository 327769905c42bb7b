#include "call/threaded_engine.h"

#include <condition_variable>

namespace easyretry::call {
namespace {

// Opened once, by stop(). Whoever waits through a delay is let go then.
class Latch {
 public:
  // True: the whole delay has passed.
  bool wait(Millis delay) {
    std::unique_lock lock{mutex_};
    return !opened_.wait_for(lock, delay, [this] { return open_; });
  }
  void open() {
    {
      const std::lock_guard lock{mutex_};
      open_ = true;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;  // guarded by mutex_
};

class ThreadedImpl final : public detail::EngineImpl {
 public:
  ThreadedImpl(std::shared_ptr<storage::Store> store, const Config& config, ExceptionNames names)
      : EngineImpl(std::move(store), system_clock(), config, std::move(names),
                   engine::thread_workers(static_cast<std::size_t>(config.engine.workers))) {}

  ~ThreadedImpl() override { ThreadedImpl::stop(); }

  void start() override {
    const std::lock_guard lock{mutex_};
    if (stopped_)
      throw std::logic_error("easyretry: an engine that was stopped cannot be started again; make a new one");
    if (threads_) return;
    tell_of_the_store();
    warn_of_unknown_handlers();
    threads_ = std::make_unique<engine::Threads>(core_);
  }

  void stop() override {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
    stopping_.open();
    stop_following();
    if (threads_) threads_->stop(core_.context().live.drain.load());
    threads_.reset();
  }

 private:
  bool wait(Millis delay) override { return stopping_.wait(delay); }

  std::mutex mutex_;
  Latch stopping_;
  bool stopped_ = false;                      // guarded by mutex_
  std::unique_ptr<engine::Threads> threads_;  // guarded by mutex_
};

}  // namespace

std::shared_ptr<detail::EngineImpl> threaded_engine(std::shared_ptr<storage::Store> store, const Config& config,
                                                    ExceptionNames names) {
  return std::make_shared<ThreadedImpl>(std::move(store), config, std::move(names));
}

}  // namespace easyretry::call
