#include "engine/threads.h"

#include <exception>

#include <pthread.h>

namespace easyretry::engine {
namespace {

// A handler that watches its stop token gets this long to return, and the last outcomes this long to be written.
constexpr Millis kLastMoments{2000};

template <class Part>
std::unique_ptr<RunLoop> loop(const char* name, Core& core, Wakeup& wakeup, Part& part) {
  return std::make_unique<RunLoop>(name, core, wakeup, [&part] { return part.step(); });
}

}  // namespace

RunLoop::RunLoop(std::string name, Context& context, Wakeup& wakeup, std::function<Step()> step)
    : name_(std::move(name)), context_(context), wakeup_(wakeup), step_(std::move(step)), thread_([this] { run(); }) {}

RunLoop::~RunLoop() {
  wakeup_.close();
  thread_.join();
}

void RunLoop::run() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());  // the kernel keeps 15 characters
  while (!wakeup_.closed()) {
    const Step step = guarded_step();
    if (step.wake != Instant::min()) wakeup_.wait_until(step.wake);
  }
}

// Only its owner may end the loop: without it the engine would silently stand still.
Step RunLoop::guarded_step() {
  std::string what;
  try {
    return step_();
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "unknown exception";
  }
  Counters::add(context_.counters.internal_errors);
  context_.log(LogLevel::error, name_ + " failed and continues: " + what);
  return {true, context_.clock.steady() + std::chrono::milliseconds{100}};
}

Threads::Threads(Core& core, Tasks tasks)
    : core_(core),
      renewing_(loop("er-renew", core, core.renewer().wakeup, core.renewer())),
      settling_(loop("er-settle", core, core.outcomes().wakeup, core.settler())),
      retrying_(loop("er-local", core, core.local_retries().wakeup, core.local_retries())) {
  if (tasks == Tasks::are_claimed) begin_claiming();
  core.listen();
}

void Threads::begin_claiming() {
  keeping_ = loop("er-keep", core_, core_.keeper().wakeup, core_.keeper());
  watching_pauses_ = loop("er-pauses", core_, core_.context().pauses.wakeup, core_.pause_watch());
  watching_circuits_ = loop("er-circuits", core_, core_.context().circuits, core_.circuit_watch());
  watching_brakes_ = loop("er-brakes", core_, core_.context().braking, core_.brake_watch());
  claiming_ = loop("er-claim", core_, core_.claiming(), core_.claimers()[0]);
  claiming_too_ = loop("er-claim2", core_, core_.claiming(), core_.claimers()[1]);
  loading_ = loop("er-load", core_, core_.loader().wakeup, core_.loader());
  if (core_.intake().wanted()) taking_in_ = loop("er-intake", core_, core_.intake().wakeup, core_.intake());
  if (core_.rebalancer().wanted()) {
    core_.rebalancer().begin();
    rebalancing_ = loop("er-cluster", core_, core_.rebalancer().wakeup, core_.rebalancer());
  }
}

void Threads::stop(Millis patience) {
  const Clock& clock = core_.clock();
  // First, so that other members take over the shards while the last handlers are still running.
  rebalancing_.reset();
  core_.rebalancer().leave();
  core_.stop_listening();
  core_.stop_claiming();
  core_.local_retries().stop();
  taking_in_.reset();
  loading_.reset();
  claiming_.reset();
  claiming_too_.reset();
  watching_pauses_.reset();
  watching_circuits_.reset();
  retrying_.reset();
  core_.hand_back_waiting([](const Run&) { return true; });
  wait_for_handlers(clock.steady() + patience);
  if (!core_.outcomes().wait_idle(clock.steady() + kLastMoments)) {
    core_.log(LogLevel::warning, "the store did not accept the last outcomes; those tasks will run again");
  }
  core_.announce();
  settling_.reset();
  renewing_.reset();
  watching_brakes_.reset();  // until now: leases are not renewed without seats
  if (core_.in_flight().size() == 0) core_.brake_watch().leave();
  keeping_.reset();
}

void Threads::wait_for_handlers(Instant until) {
  auto& workers = static_cast<ThreadWorkers&>(core_.workers());
  const bool idle = workers.wait_idle(until);
  if (!core_.in_flight().wait_none_remote(until) || !idle) {
    for (const RunPtr& run : core_.in_flight().all()) run->interrupt_with(Interrupt::draining);
  }
  const Instant end = core_.clock().steady() + kLastMoments;
  core_.in_flight().wait_none_remote(end);
  const std::size_t left = workers.close(end) + core_.in_flight().size() - core_.in_flight().here();
  if (left > 0) {
    core_.log(LogLevel::warning,
              std::to_string(left) + " handler(s) did not stop; their tasks will run again when their leases expire");
  }
}

MakeWorkers thread_workers(std::size_t threads) {
  return [threads](std::shared_ptr<Context> context, std::shared_ptr<Outcomes> outcomes) {
    return std::make_unique<ThreadWorkers>(std::move(context), std::move(outcomes), threads);
  };
}

}  // namespace easyretry::engine
