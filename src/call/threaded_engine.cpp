#include "call/threaded_engine.h"

namespace easyretry::call {

bool Latch::wait(Millis delay) {
  std::unique_lock lock{mutex_};
  return !opened_.wait_for(lock, delay, [this] { return open_; });
}

void Latch::open() {
  {
    const std::lock_guard lock{mutex_};
    open_ = true;
  }
  opened_.notify_all();
}

ThreadedEngine::ThreadedEngine(std::shared_ptr<storage::Store> store, const Config& config, ExceptionNames names)
    : EngineImpl(std::move(store), system_clock(), config, std::move(names),
                 engine::thread_workers(static_cast<std::size_t>(config.engine.workers))) {
  core_.settler_is_stepped(false);
  core_.waits().begin_with([this] { watch_waits(); });
}

ThreadedEngine::~ThreadedEngine() {
  ThreadedEngine::stop();
}

void ThreadedEngine::start() {
  const std::lock_guard lock{mutex_};
  if (stopped_) throw std::logic_error("easyretry: a stopped engine cannot be started again; create a new one");
  if (threads_) return;
  log_store();
  warn_of_unknown_handlers();
  threads_ = begin();
  core_.settler_is_stepped(true);
}

void ThreadedEngine::stop() {
  const std::lock_guard lock{mutex_};
  stopped_ = true;
  stopping_.open();
  core_.waits().close();
  stop_following();
  core_.settler_is_stepped(false);
  if (threads_) end(*threads_);
  threads_.reset();
  core_.log_left_out_failures();
}

// A direct call may begin before start() and end after stop(), so its lease has a thread of its own.
void ThreadedEngine::keep_leases() {
  const std::lock_guard lock{leases_mutex_};
  if (keeping_leases_) return;
  keeping_leases_ =
      std::make_unique<engine::RunLoop>("er-calls", core_, leases_wakeup_, [this] { return core_.renewer().step(); });
}

// A wait may begin before start(), or be the only thing that this engine is used for.
void ThreadedEngine::watch_waits() {
  const std::lock_guard lock{waits_mutex_};
  if (watching_waits_) return;
  watching_waits_ = std::make_unique<engine::RunLoop>("er-wait", core_, core_.waits().wakeup,
                                                      [this] { return core_.waits().step(); });
}

std::unique_ptr<engine::Threads> ThreadedEngine::begin() {
  return std::make_unique<engine::Threads>(core_);
}

void ThreadedEngine::end(engine::Threads& threads) {
  threads.stop(core_.live_options().drain.load());
}

std::shared_ptr<detail::EngineImpl> threaded_engine(std::shared_ptr<storage::Store> store, const Config& config,
                                                    ExceptionNames names) {
  return std::make_shared<ThreadedEngine>(std::move(store), config, std::move(names));
}

}  // namespace easyretry::call
