#include "sim/instance.h"

#include <exception>

#include "sim/sim_workers.h"

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;
using engine::Core;
using engine::Step;

engine::MakeWorkers sim_workers(Process& process, const Scenario& scenario) {
  return [&process, &scenario](std::shared_ptr<engine::Context> context, std::shared_ptr<engine::Outcomes> outcomes) {
    return std::make_unique<SimWorkers>(process, std::move(context), std::move(outcomes),
                                        static_cast<std::size_t>(scenario.engine.workers), scenario.claim_ahead);
  };
}

ClockErrors draw_clock_errors(Dice& dice, const Scenario& scenario) {
  const auto most = static_cast<int>(scenario.drift_ppm);
  return {dice.between(-scenario.wall_error, scenario.wall_error), dice.between(Time{0}, Time{24h}),
          dice.between(-most, most)};
}

}  // namespace

Instance::Life::Life(const Surroundings& world, int number, const std::string& owner, ClockErrors clock_errors)
    : clock(world.scheduler, clock_errors),
      process(world.scheduler, world.dice),
      store(std::make_shared<FaultyStore>(world.store, world.weather, world.journal, process, number)),
      core(store, clock, {world.scenario.engine, owner, world.dice.seed()}, sim_workers(process, world.scenario)) {}

void Instance::start(std::vector<ShardId> shards, bool all_handlers) {
  const std::string owner = "i" + std::to_string(number_) + "#" + std::to_string(++lives_);
  life_ = std::make_unique<Life>(world_, number_, owner, draw_clock_errors(world_.dice, world_.scenario));
  world_.journal.write(number_, Born{lives_});

  Life& life = *life_;
  std::string_view missing;
  if (!all_handlers && world_.dice.chance(world_.scenario.missing_handler)) {
    const auto kinds = handler_kinds();
    missing = kinds[static_cast<std::size_t>(world_.dice.between(0, static_cast<int>(kinds.size()) - 1))].name;
  }
  world_.user_code.register_at(life.core.context().handlers, life.process, number_, missing);
  life.process.on_death = [this] { end_soon(Death::crashed); };

  life.core.context().sleep = [&life](Millis time) { life.process.sleep(time); };

  Core& core = life.core;
  life.loops_to_end = 1 + static_cast<int>(core.claimers().size());
  if (world_.scenario.sharing == Sharing::told) {
    core.own(std::move(shards));
  } else {
    ++life.loops_to_end;
    core.rebalancer().begin();
    run_part(life, core.rebalancer(), core.rebalancer().wakeup, WhenDraining::ends);
  }
  run_part(life, core.keeper(), core.keeper().wakeup, WhenDraining::goes_on);
  run_part(life, core.renewer(), core.renewer().wakeup, WhenDraining::goes_on);
  run_part(life, core.settler(), core.outcomes().wakeup, WhenDraining::goes_on);
  run_part(life, core.pause_watch(), core.context().pauses.wakeup, WhenDraining::goes_on);
  run_part(life, core.circuit_watch(), core.context().circuits, WhenDraining::goes_on);
  run_part(life, core.brake_watch(), core.context().braking, WhenDraining::goes_on);
  for (engine::Claimer& claimer : core.claimers()) run_part(life, claimer, core.claiming(), WhenDraining::ends);
  run_part(life, core.loader(), core.loader().wakeup, WhenDraining::ends);
}

template <class Part>
void Instance::run_part(Life& life, Part& part, engine::Wakeup& wakeup, WhenDraining when_draining) {
  life.process.spawn([this, &life, &part, &wakeup, when_draining] {
    const std::function<Step()> step = [&part] { return part.step(); };
    loop(life, wakeup, step, when_draining);
  });
}

// RunLoop without its thread.
void Instance::loop(Life& life, engine::Wakeup& wakeup, const std::function<Step()>& step, WhenDraining when_draining) {
  const auto over = [&] { return life.draining && when_draining == WhenDraining::ends; };
  while (!over()) {
    const Step done = guarded(step);
    check_memory();
    if (done.wake == Instant::min()) {
      life.process.sleep(world_.dice.between(Time{1us}, Time{100us}));
    } else if (!over()) {
      life.process.wait(wakeup, life.clock.when(done.wake));
    }
  }
  --life.loops_to_end;
}

Step Instance::guarded(const std::function<Step()>& step) {
  try {
    return step();
  } catch (const std::exception& e) {
    world_.journal.write(number_, Wrong{"engine", std::string{"a part threw: "} + e.what()});
    return {true, life_->clock.steady() + 100ms};
  }
}

std::vector<ShardId> Instance::shards_of(const std::string& handler) const {
  if (!alive() || life_->core.context().handlers.snapshot()->find(handler) == nullptr) return {};
  const auto owned = life_->core.loader().owned();
  const auto shards = owned->part(handler).owned.list();
  return {shards.begin(), shards.end()};
}

void Instance::pause(Time how_long) {
  life_->process.pause_until(world_.scheduler.now() + how_long);
  world_.journal.write(number_, Paused{kWorldBegan + std::chrono::ceil<Millis>(life_->process.paused_until())});
}

void Instance::own(std::vector<ShardId> shards) {
  life_->core.own(std::move(shards));
  life_->process.notice_wakeups();
}

void Instance::call(std::function<void(Core&)> what) {
  Life& life = *life_;
  life.process.spawn([&life, what = std::move(what)] { what(life.core); });
}

void Instance::drain() {
  Life& life = *life_;
  life.process.spawn([this, &life] { drain(life); });
}

void Instance::drain(Life& life) {
  Core& core = life.core;
  const auto wait_for = [&](Time patience, const std::function<bool()>& done) {
    for (const Time end = world_.scheduler.now() + patience; !done() && world_.scheduler.now() < end;) {
      life.process.sleep(50ms);
    }
  };
  life.draining = true;
  core.loader().stop();
  core.schedule().stop();
  wait_for(1h, [&] { return life.loops_to_end == 0; });
  if (world_.scenario.sharing == Sharing::found) core.rebalancer().leave();
  core.hand_back_waiting([](const engine::Run&) { return true; });
  wait_for(world_.dice.between(Time{0}, Time{5s}), [&] { return core.workers().busy() == 0; });
  for (const engine::RunPtr& run : core.in_flight().all()) run->interrupt_with(engine::Interrupt::draining);
  wait_for(2s, [&] { return core.workers().busy() == 0; });
  wait_for(2s, [&] { return core.outcomes().wait_idle(Instant::min()); });
  if (core.in_flight().size() == 0) core.brake_watch().leave();
  end_soon(Death::drained);
}

void Instance::check_memory() {
  constexpr std::size_t kBatchesInFlight = 4;  // as schedule.cpp has it
  const EngineOptions& options = world_.scenario.engine;
  Core& core = life_->core;
  if (core.schedule().held() > options.read_ahead) {
    world_.journal.write(number_, Wrong{"I11", std::to_string(core.schedule().held()) + " tasks read ahead, " +
                                                   std::to_string(options.read_ahead) + " allowed"});
  }
  if (core.in_flight().size() > kBatchesInFlight * options.batch) {
    world_.journal.write(number_, Wrong{"I11", std::to_string(core.in_flight().size()) + " tasks claimed, " +
                                                   std::to_string(kBatchesInFlight * options.batch) + " allowed"});
  }
}

// Not at once: it is one of its own threads that says so.
void Instance::end_soon(Death how) {
  world_.scheduler.at(world_.scheduler.now(), [this, how, life = lives_] {
    if (alive() && lives_ == life) end(how);
  });
}

void Instance::end(Death how) {
  life_.reset();
  world_.journal.write(number_, Died{how});
  on_end(how);
}

}  // namespace easyretry::sim
