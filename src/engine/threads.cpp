#include "engine/threads.h"

namespace easyretry::engine {
namespace {

// A handler that watches its stop token gets this long to return, and the last outcomes this long to be written.
constexpr Millis kLastMoments{2000};

}  // namespace

Threads::Threads(Core& core, Tasks tasks)
    : core_(core),
      renewing_(std::make_unique<RunLoop>("er-renew", core.context(), core.renewer.bell,
                                          [&] { return core.renewer.step(); })),
      settling_(std::make_unique<RunLoop>("er-settle", core.context(), core.outcomes().bell,
                                          [&] { return core.settler.step(); })),
      retrying_(
          std::make_unique<RunLoop>("er-local", core.context(), core.local->bell, [&] { return core.local->step(); })) {
  if (tasks == Tasks::are_claimed) begin_claiming();
  core.listen();
}

void Threads::begin_claiming() {
  const auto loop = [this](const char* name, Bell& bell, auto& part) {
    return std::make_unique<RunLoop>(name, core_.context(), bell, [&part] { return part.step(); });
  };
  keeping_ = loop("er-keep", core_.keeper.bell, core_.keeper);
  watching_pauses_ = loop("er-pauses", core_.context().pauses.bell, core_.pause_watch);
  claiming_ = loop("er-claim", core_.schedule.bell, core_.claimers[0]);
  claiming_too_ = loop("er-claim2", core_.schedule.bell, core_.claimers[1]);
  loading_ = loop("er-load", core_.loader.bell, core_.loader);
  if (core_.intake.wanted()) taking_in_ = loop("er-intake", core_.intake.bell, core_.intake);
  if (core_.rebalancer.wanted()) {
    core_.rebalancer.begin();
    rebalancing_ = loop("er-cluster", core_.rebalancer.bell, core_.rebalancer);
  }
}

void Threads::stop(Millis patience) {
  const Clock& clock = core_.context().clock;
  // First, so that the others take the shards over while the last handlers are still running.
  rebalancing_.reset();
  core_.rebalancer.leave();
  core_.stop_listening();
  core_.loader.stop();
  core_.schedule.stop();
  core_.local->stop();
  taking_in_.reset();
  loading_.reset();
  claiming_.reset();
  claiming_too_.reset();
  watching_pauses_.reset();
  retrying_.reset();
  core_.hand_back_waiting([](const Run&) { return true; });
  wait_for_handlers(clock.steady() + patience);
  if (!core_.outcomes().wait_idle(clock.steady() + kLastMoments)) {
    core_.context().log(LogLevel::warning, "the store did not accept the last outcomes; those tasks will run again");
  }
  core_.announce();
  settling_.reset();
  renewing_.reset();
  keeping_.reset();
}

void Threads::wait_for_handlers(Instant until) {
  auto& workers = static_cast<ThreadWorkers&>(core_.workers());
  const bool idle = workers.wait_idle(until);
  if (!core_.holdings().wait_none_elsewhere(until) || !idle) {
    for (const RunPtr& run : core_.holdings().all()) run->interrupt_with(Interrupt::draining);
  }
  const Instant end = core_.context().clock.steady() + kLastMoments;
  core_.holdings().wait_none_elsewhere(end);
  const std::size_t left = workers.close(end) + core_.holdings().size() - core_.holdings().here();
  if (left > 0) {
    core_.context().log(
        LogLevel::warning,
        std::to_string(left) + " handler(s) did not stop; their tasks will run again when their leases expire");
  }
}

MakeWorkers thread_workers(std::size_t threads) {
  return [threads](std::shared_ptr<Context> context, std::shared_ptr<Outcomes> outcomes) {
    return std::make_unique<ThreadWorkers>(std::move(context), std::move(outcomes), threads);
  };
}

}  // namespace easyretry::engine
