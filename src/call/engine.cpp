#include <easyretry/engine.h>

#include "call/engine_impl.h"
#include "storage/open.h"

namespace easyretry {
namespace {

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
    if (threads_) threads_->stop(core_.context().options.drain);
    threads_.reset();
  }

 private:
  std::mutex mutex_;
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
  impl_->core().context().handlers.add(std::move(handler));
  impl_->core().loader.hurry();  // its tasks may have been waiting for it
}

std::weak_ptr<detail::HandlerHost> Engine::host() const {
  return impl_;
}

std::optional<TaskInfo> Engine::find(TaskId id) const {
  auto record = detail::value_or_throw(impl_->core().find(id));
  if (!record) return std::nullopt;
  return std::move(record->info);
}

bool Engine::cancel(TaskId id) {
  return detail::value_or_throw(impl_->core().cancel(id));
}

Stats Engine::stats() const {
  return impl_->core().stats();
}

}  // namespace easyretry
