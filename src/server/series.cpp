#include "server/series.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/measures.h"

namespace easyretry::server {
namespace {

constexpr std::array<Millis, 2> kLengths{std::chrono::seconds{10}, std::chrono::minutes{1}};

std::int64_t slot_of(TimePoint at, Millis length) {
  return at.time_since_epoch() / length;
}

void add_late(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

// The upper bound of the histogram's bucket in which this share of the attempts ends.
std::optional<Millis> quantile(const std::vector<std::uint64_t>& counts, double share) {
  const auto& bounds = engine::bounds::kLateness;
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (all == 0) return std::nullopt;
  std::uint64_t so_far = 0;
  std::size_t i = 0;
  while (i + 1 < counts.size() && static_cast<double>(so_far += counts[i]) < share * static_cast<double>(all)) ++i;
  return std::chrono::ceil<Millis>(std::chrono::nanoseconds{bounds[std::min(i, bounds.size() - 1)]});
}

SeriesReading sum_of(const SeriesReadings& readings) {
  SeriesReading sum;
  for (const auto& [handler, one] : readings) {
    sum.stored += one.stored;
    sum.succeeded += one.succeeded;
    sum.failed_attempts += one.failed_attempts;
    sum.ended_badly += one.ended_badly;
    sum.backlog += one.backlog;
    add_late(sum.late, one.late);
  }
  return sum;
}

// If a count became smaller, it begins anew: its store was emptied.
std::int64_t growth(std::int64_t now, std::int64_t before) {
  return std::max<std::int64_t>(0, now - before);
}

SeriesReading growth(const SeriesReading& now, const SeriesReading& before) {
  SeriesReading more{growth(now.stored, before.stored),
                     growth(now.succeeded, before.succeeded),
                     growth(now.failed_attempts, before.failed_attempts),
                     growth(now.ended_badly, before.ended_badly),
                     now.backlog,
                     now.late};
  for (std::size_t i = 0; i < std::min(more.late.size(), before.late.size()); ++i) {
    more.late[i] -= std::min(more.late[i], before.late[i]);
  }
  return more;
}

// The part of `all` for step number `i` of `steps`; all parts together are the whole.
std::int64_t share(std::int64_t all, std::int64_t i, std::int64_t steps) {
  return all * (i + 1) / steps - all * i / steps;
}

SeriesReading share(const SeriesReading& all, std::int64_t backlog_before, std::int64_t i, std::int64_t steps) {
  SeriesReading part{share(all.stored, i, steps),
                     share(all.succeeded, i, steps),
                     share(all.failed_attempts, i, steps),
                     share(all.ended_badly, i, steps),
                     backlog_before + (all.backlog - backlog_before) * (i + 1) / steps,
                     all.late};
  for (std::uint64_t& late : part.late) {
    late = static_cast<std::uint64_t>(share(static_cast<std::int64_t>(late), i, steps));
  }
  return part;
}

bool is_nothing(const SeriesReading& growth, std::int64_t backlog_before) {
  return growth.stored == 0 && growth.succeeded == 0 && growth.failed_attempts == 0 && growth.ended_badly == 0 &&
         growth.backlog == backlog_before && std::ranges::all_of(growth.late, [](auto late) { return late == 0; });
}

}  // namespace

Millis length_of(SeriesStep step) {
  return kLengths[static_cast<std::size_t>(step)];
}

void Series::Ring::add(std::int64_t slot, const SeriesReading& more) {
  auto& [kept, point] = points_[static_cast<std::size_t>(slot) % points_.size()];
  if (kept != slot) {
    kept = slot;
    point = {};
    late_.clear();
  }
  point.stored += more.stored;
  point.succeeded += more.succeeded;
  point.failed_attempts += more.failed_attempts;
  point.ended_badly += more.ended_badly;
  point.backlog = more.backlog;
  add_late(late_, more.late);
  point.late_p50 = quantile(late_, 0.5);
  point.late_p99 = quantile(late_, 0.99);
}

std::optional<SeriesPoint> Series::Ring::at(std::int64_t slot) const {
  const auto& [kept, point] = points_[static_cast<std::size_t>(slot) % points_.size()];
  return kept == slot ? std::optional{point} : std::nullopt;
}

void Series::Line::add(std::int64_t slot, const SeriesReading& more) {
  for (std::size_t i = 0; i < rings.size(); ++i) rings[i].add(slot * kLengths[0] / kLengths[i], more);
}

void Series::add(const std::string& name, Line& line, const SeriesReading& reading, Growths& steps) {
  const auto before = std::exchange(line.before, reading);
  if (!before) return;
  const SeriesReading more = growth(reading, *before);
  const auto number = static_cast<std::int64_t>(steps.size());
  std::int64_t backlog = before->backlog;
  for (std::int64_t i = 0; i < number; ++i) {
    SeriesGrowth& step = steps[static_cast<std::size_t>(i)];
    SeriesReading part = share(more, before->backlog, i, number);
    line.add(step.slot, part);
    const bool happened = !is_nothing(part, std::exchange(backlog, part.backlog));
    if (!std::exchange(line.begun, true) || happened) step.lines.emplace(name, std::move(part));
  }
}

// Readings come shortly after the end of a step: half a step earlier is in the middle of it.
std::vector<SeriesGrowth> Series::add(TimePoint at, const SeriesReadings& readings) {
  const std::lock_guard lock{mutex_};
  admit(readings);
  const std::int64_t last = slot_of(at - kLengths[0] / 2, kLengths[0]);
  const auto most = static_cast<std::int64_t>(all_.rings[0].size());
  Growths steps;
  for (std::int64_t slot = covered_ ? std::clamp(*covered_ + 1, last - most, last) : last; slot <= last; ++slot) {
    steps.push_back({.slot = slot});
  }
  add({}, all_, sum_of(readings), steps);
  for (auto& [handler, line] : lines_) {
    const auto found = readings.find(handler);
    add(handler, line, found == readings.end() ? SeriesReading{} : found->second, steps);
  }
  if (!begun_) begun_ = at;
  covered_ = last;
  if (!std::exchange(counting_, true)) steps.clear();  // without an earlier reading there is no growth
  return steps;
}

void Series::lost() {
  const std::lock_guard lock{mutex_};
  covered_.reset();
}

void Series::restore(const std::vector<SeriesGrowth>& steps) {
  const std::lock_guard lock{mutex_};
  std::map<std::string, std::int64_t> backlogs;  // of lines that have begun
  const auto line_of = [this](const std::string& name) -> Line* {
    if (name.empty()) return &all_;
    const auto found = lines_.find(name);
    if (found != lines_.end()) return &found->second;
    return lines_.size() < kMostHandlers ? &lines_[name] : nullptr;
  };
  for (const SeriesGrowth& step : steps) {
    for (const auto& [name, growth] : step.lines) backlogs[name] = growth.backlog;
    for (const auto& [name, backlog] : backlogs) {
      Line* const line = line_of(name);
      const auto found = step.lines.find(name);
      if (line != nullptr)
        line->add(step.slot, found == step.lines.end() ? SeriesReading{.backlog = backlog} : found->second);
    }
  }
  if (!steps.empty()) begun_ = TimePoint{steps.front().slot * kLengths[0]};
}

// Admits the handlers with the most tasks first. The counts of a later handler begin at 0.
void Series::admit(const SeriesReadings& readings) {
  std::vector<std::pair<std::int64_t, const std::string*>> fresh;
  for (const auto& [handler, one] : readings) {
    if (!lines_.contains(handler)) fresh.emplace_back(one.stored, &handler);
  }
  std::ranges::sort(fresh, std::greater<>{}, [](const auto& one) { return one.first; });
  for (const auto& [stored, handler] : fresh) {
    if (lines_.size() >= kMostHandlers) return;
    Line& line = lines_[*handler];
    if (counting_) line.before = SeriesReading{};
  }
}

std::map<std::string, Series::Recent> Series::recent(TimePoint now) const {
  constexpr std::int64_t kRecentSteps = std::chrono::minutes{10} / kLengths[0];
  const std::int64_t end = slot_of(now, kLengths[0]);
  std::map<std::string, Recent> all;
  const std::lock_guard lock{mutex_};
  for (const auto& [handler, line] : lines_) {
    Recent sum;
    for (std::int64_t slot = end - kRecentSteps; slot < end; ++slot) {
      const auto point = line.rings[0].at(slot);
      if (!point) continue;
      sum.measured += kLengths[0];
      sum.stored += point->stored;
      sum.succeeded += point->succeeded;
      sum.ended_badly += point->ended_badly;
    }
    if (sum.measured > Millis{0}) all.emplace(handler, sum);
  }
  return all;
}

Series::Shown Series::read(SeriesStep step, const std::string& handler, TimePoint now) const {
  const Millis length = length_of(step);
  const std::lock_guard lock{mutex_};
  if (!begun_) return {now, {}};
  const auto found = lines_.find(handler);
  if (!handler.empty() && found == lines_.end()) return {*begun_, {}};
  const Ring& ring = (handler.empty() ? all_ : found->second).rings[static_cast<std::size_t>(step)];
  const std::int64_t end = slot_of(now, length);
  const std::int64_t begin = std::max(slot_of(*begun_, length), end - static_cast<std::int64_t>(ring.size()));
  Shown shown{TimePoint{begin * length}, {}};
  for (std::int64_t slot = begin; slot < end; ++slot) shown.points.push_back(ring.at(slot));
  if (!shown.points.empty() && !shown.points.back()) shown.points.pop_back();  // this step is being read at the moment
  return shown;
}

}  // namespace easyretry::server
