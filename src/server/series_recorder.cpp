#include "server/series_recorder.h"

#include <algorithm>

namespace easyretry::server {
namespace {

constexpr int kShare = 100;                               // reading takes at most one part in this many
constexpr Millis kSavedEvery = std::chrono::seconds{55};  // with every sixth step

SeriesReading reading_of(const HandlerCounts& counts) {
  SeriesReading reading{.stored = counts.total.stored, .backlog = counts.live()};
  for (const auto& [outcome, number] : counts.total.ended) {
    if (outcome == Outcome::succeeded) {
      reading.succeeded += number;
    } else if (outcome != Outcome::cancelled) {
      reading.ended_badly += number;
    }
  }
  return reading;
}

SeriesReadings readings_of(const Counts& counts, const engine::HandlerTable& here) {
  SeriesReadings readings;
  for (const auto& [handler, tally] : counts) readings.emplace(handler, reading_of(tally));
  for (const auto& known : here.by_number) {
    SeriesReading& reading = readings[known->handler.name];
    reading.failed_attempts = static_cast<std::int64_t>(known->failed_attempts->load(std::memory_order_relaxed));
    reading.late = known->lateness->read().counts;
  }
  return readings;
}

}  // namespace

// False: the store does not answer now.
bool SeriesRecorder::restore() {
  if (restored_) return true;
  const auto parts = core_.store().saved_series(core_.options().name_space);
  if (!parts && parts.error().code == Errc::unavailable) return false;
  restored_ = true;
  if (!parts) {
    core_.log(LogLevel::warning, "the counts over time begin anew: " + to_string(parts.error()));
    return true;
  }
  constexpr Millis kKept = std::chrono::hours{24};
  const std::int64_t first = (core_.clock().now() - kKept).time_since_epoch() / length_of(SeriesStep::ten_seconds);
  const std::vector<SeriesGrowth> steps = SeriesJournal::read(*parts, first);
  series_.restore(steps);
  journal_.resume(steps);
  return true;
}

void SeriesRecorder::read() {
  const auto counts = core_.counts();
  answers_ = counts.has_value();
  if (!counts) return series_.lost();
  for (SeriesGrowth& step : series_.add(core_.clock().now(), readings_of(*counts, *core_.handlers().snapshot()))) {
    journal_.add(std::move(step));
  }
  see_(*counts);
}

void SeriesRecorder::save() {
  if (!answers_) return;
  journal_.save([this](const storage::SeriesPart& part) {
    return core_.store().save_series(core_.options().name_space, part).has_value();
  });
}

engine::Step SeriesRecorder::step() {
  const Clock& clock = core_.clock();
  const Instant begin = clock.steady();
  if (restore()) read();
  if (clock.steady() >= saved_ + kSavedEvery) {
    save();
    saved_ = clock.steady();
  }
  const Instant end = clock.steady();
  const Millis length = length_of(SeriesStep::ten_seconds);
  const Instant next_step = end + (length - clock.now().time_since_epoch() % length);
  return {true, std::max(next_step, end + (end - begin) * kShare)};
}

}  // namespace easyretry::server
