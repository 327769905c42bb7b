#include <condition_variable>

#include <easyretry/engine.h>

#include "call/engine_impl.h"
#include "call/errors.h"
#include "storage/open.h"

namespace easyretry {
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

// The engine of a running application: on the machine's clock, with threads.
class ThreadedImpl final : public detail::EngineImpl {
 public:
  ThreadedImpl(std::string_view store_url, const EngineOptions& options)
      : EngineImpl(storage::open_store(store_url, system_clock()), system_clock(), options,
                   engine::thread_workers(static_cast<std::size_t>(options.workers))) {}

  ~ThreadedImpl() override { ThreadedImpl::stop(); }

  void start() override {
    const std::lock_guard lock{mutex_};
    if (stopped_)
      throw std::logic_error("easyretry: an engine that was stopped cannot be started again; make a new one");
    if (!threads_) threads_ = std::make_unique<engine::Threads>(core_);
  }

  void stop() override {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
    stopping_.open();
    if (threads_) threads_->stop(core_.context().options.drain);
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

Engine::Engine(std::string_view store_url, const EngineOptions& options)
    : Engine((validate(options), std::make_shared<ThreadedImpl>(store_url, options))) {}

Engine::Engine(std::shared_ptr<detail::EngineImpl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->stop();
}

void Engine::start() {
  impl_->start();
}

void Engine::stop() {
  impl_->stop();
}

void Engine::add(detail::Handler handler) {
  impl_->add(std::move(handler));
}

std::weak_ptr<detail::HandlerHost> Engine::host() const {
  return impl_;
}

std::optional<TaskInfo> Engine::find(TaskId id) const {
  auto record = call::value_or_throw(impl_->core().find(id));
  if (!record) return std::nullopt;
  return std::move(record->info);
}

bool Engine::cancel(TaskId id) {
  return call::value_or_throw(impl_->core().cancel(id));
}

void Engine::add_filter(Filter filter) {
  impl_->add_filter(std::move(filter));
}

void Engine::on_event(EventListener listener, Delivery delivery) {
  if (!listener) throw std::invalid_argument("a listener must be callable");
  impl_->core().context().events.add(std::move(listener), delivery);
}

Stats Engine::stats() const {
  return impl_->core().stats();
}

}  // namespace easyretry
