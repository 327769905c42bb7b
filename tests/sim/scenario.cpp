#include "sim/scenario.h"

#include <fmt/format.h>

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;

EngineOptions draw_engine(Dice& dice) {
  EngineOptions options;
  options.name_space = "sim";
  options.workers = dice.between(1, 4);
  options.window = dice.pick<Millis>({1s, 2s, 5s});
  options.lease = dice.pick<Millis>({2s, 4s, 8s});
  options.grace = dice.pick<Millis>({3s, 6s, 12s});
  options.max_crashes = dice.between(2, 4);
  options.batch = dice.pick<std::size_t>({1, 3, 20, 1000});
  options.read_ahead = dice.pick<std::size_t>({8, 50, 10'000});
  options.log = nullptr;
  return options;
}

double draw_chance(Dice& dice, double most) {
  return dice.chance(0.5) ? most * dice.between(1, 100) / 100 : 0;
}

Time draw_mean(Dice& dice, Time shortest, Time longest) {
  return dice.chance(0.5) ? dice.between(shortest, longest) : Time{0};
}

}  // namespace

Scenario draw_scenario(Dice& dice, Sharing sharing, StoreKind store) {
  Scenario s;
  s.sharing = sharing;
  s.embedded = store == StoreKind::sqlite && sharing == Sharing::told && dice.chance(0.3);
  s.instances = s.embedded ? 1 : dice.between(2, 5);
  s.shards = dice.pick<int>({1, 4, 8});
  s.engine = draw_engine(dice);
  s.claim_ahead = static_cast<std::size_t>(dice.pick<int>({0, 0, 2, 8}));
  s.missing_handler = draw_chance(dice, 0.3);
  s.wall_error = dice.pick<Millis>({0s, 1h});
  s.drift_ppm = dice.pick<std::int64_t>({0, 1'000, 30'000});

  const bool forgets = sharing == Sharing::told && !s.embedded && s.shards > 1 && dice.chance(0.2);
  s.forgotten_shard = forgets ? dice.between(0, s.shards - 1) : -1;
  if (sharing == Sharing::found) {
    s.engine.assignment = dice.pick<Assignment>({Assignment::stride, Assignment::even});
    s.engine.at_start = dice.pick<AtStart>({AtStart::alone, AtStart::wait});
  }
  s.last_blow = dice.chance(0.5);
  s.noise = dice.between(Time{20s}, Time{40s});
  s.tasks = dice.between(10, 35);
  s.duplicate_key = draw_chance(dice, 0.3);
  s.poison = draw_chance(dice, 0.06);
  s.cancel = draw_mean(dice, 2s, 10s);
  s.requeue = draw_mean(dice, 5s, 20s);

  s.calls.unavailable = draw_chance(dice, 0.1);
  s.calls.request_lost = draw_chance(dice, 0.05);
  s.calls.reply_lost = draw_chance(dice, 0.1);
  s.calls.late = draw_chance(dice, 0.03);
  s.calls.slow = draw_chance(dice, 0.03);
  s.calls.death_before = draw_chance(dice, 0.01);
  s.calls.death_after = draw_chance(dice, 0.01);
  s.slowest = s.calls.slow > 0 ? dice.between(Time{100ms}, Time{8s}) : Time{0};

  s.troubles.crash = draw_mean(dice, 5s, 30s);
  s.troubles.pause = draw_mean(dice, 5s, 30s);
  s.troubles.drain = draw_mean(dice, 10s, 40s);
  s.troubles.outage = draw_mean(dice, 15s, 60s);
  s.troubles.partition = draw_mean(dice, 10s, 40s);
  s.troubles.views = draw_mean(dice, 3s, 20s);
  s.revise = draw_mean(dice, 1s, 10s);
  s.pause_handler = draw_mean(dice, 3s, 10s);
  return s;
}

std::string to_text(const Scenario& s) {
  const auto seconds = [](Time time) { return fmt::format("{:.1f} s", std::chrono::duration<double>{time}.count()); };
  const auto often = [&](Time mean) { return mean == Time{0} ? std::string{"never"} : "every " + seconds(mean); };
  const EngineOptions& e = s.engine;
  return fmt::format(
      "{}{} instances of {} workers{}, claiming {} ahead, {} shards, window {}, lease {}, grace {}, batch {}, "
      "read_ahead "
      "{}, "
      "max_crashes {}\n"
      "{} submissions in {}, {:.0f} % of known keys, {:.1f} % poison, cancel {}, requeue {}, revise {}, a handler is "
      "paused or resumed {}, handler "
      "missing {:.0f} %\n"
      "calls: unavailable {:.1f} %, request lost {:.1f} %, late {:.1f} %, reply lost {:.1f} %, slow {:.1f} % (to {}), "
      "death {:.2f} % before and {:.2f} % after; clocks wrong by {}, drift by {} ppm\n"
      "crash {}, pause {}, drain {}, outage {}, partition {}, views {}; forgotten shard {}{}\n",
      s.embedded ? "embedded, " : "", s.instances, e.workers,
      s.sharing == Sharing::found ? " that find each other" : "", s.claim_ahead, s.shards, seconds(e.window),
      seconds(e.lease), seconds(e.grace), e.batch, e.read_ahead, e.max_crashes, s.tasks, seconds(s.noise),
      100 * s.duplicate_key, 100 * s.poison, often(s.cancel), often(s.requeue), often(s.revise), often(s.pause_handler),
      100 * s.missing_handler, 100 * s.calls.unavailable, 100 * s.calls.request_lost, 100 * s.calls.late,
      100 * s.calls.reply_lost, 100 * s.calls.slow, seconds(s.slowest), 100 * s.calls.death_before,
      100 * s.calls.death_after, seconds(s.wall_error), s.drift_ppm, often(s.troubles.crash), often(s.troubles.pause),
      often(s.troubles.drain), often(s.troubles.outage), often(s.troubles.partition), often(s.troubles.views),
      s.forgotten_shard, s.last_blow ? "; a last blow" : "");
}

}  // namespace easyretry::sim
