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
  ThreadedImpl(const Config& config, ExceptionNames names)
      : EngineImpl(storage::open_store(config.store_url(), system_clock()), system_clock(), config, std::move(names),
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

Engine::Engine(std::string_view store_url, const EngineOptions& options)
    : Engine(Config{.store = std::string{store_url}, .engine = options}) {}

Engine::Engine(const Config& config, ExceptionNames names)
    : Engine((validate(config.engine), std::make_shared<ThreadedImpl>(config, std::move(names)))) {}

Engine::Engine(std::shared_ptr<detail::EngineImpl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->stop();
}

std::vector<ConfigChange> Engine::reload(const Config& wanted) {
  return impl_->reload(wanted);
}

void Engine::follow(const std::filesystem::path& config_file) {
  impl_->follow(config_file);
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

std::vector<TaskInfo> Engine::list(const TaskQuery& query) const {
  std::vector<TaskInfo> found;
  for (auto& record : call::value_or_throw(impl_->core().list(query))) found.push_back(std::move(record.info));
  return found;
}

std::int64_t Engine::count(const TaskQuery& query) const {
  return call::value_or_throw(impl_->core().count(query));
}

ClusterView Engine::cluster() const {
  return impl_->core().rebalancer.view();
}

Counts Engine::counts() const {
  return call::value_or_throw(impl_->core().counts());
}

bool Engine::cancel(TaskId id) {
  return call::value_or_throw(impl_->core().cancel(id));
}

std::optional<TaskId> Engine::requeue(TaskId id) {
  return call::value_or_throw(impl_->core().requeue(id));
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
