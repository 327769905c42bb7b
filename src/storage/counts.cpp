#include "storage/counts.h"

#include <numeric>
#include <utility>

#include "storage/record_columns.h"

namespace easyretry {

std::int64_t Tally::ended_in_all() const {
  return std::accumulate(ended.begin(), ended.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

bool operator==(const Tally&, const Tally&) = default;
bool operator==(const HandlerCounts&, const HandlerCounts&) = default;

}  // namespace easyretry

namespace easyretry::storage {
namespace {

constexpr std::string_view kStored = "STORED";
constexpr std::chrono::days kDaysKept{400};

void add(Tally& tally, const std::optional<Outcome>& ended, std::int64_t tasks) {
  (ended ? tally.ended[*ended] : tally.stored) += tasks;
}

}  // namespace

TimePoint day_of(TimePoint time) {
  return std::chrono::floor<std::chrono::days>(time);
}

TimePoint first_day_kept(TimePoint now) {
  return day_of(now) - kDaysKept;
}

void Sums::stored(std::string_view name_space, std::string_view handler, TimePoint now) {
  add_one(name_space, handler, kStored, now);
}

void Sums::ended(std::string_view name_space, std::string_view handler, Outcome outcome, TimePoint now) {
  add_one(name_space, handler, task::stored_name(outcome), now);
}

void Sums::add(CountKey key, std::int64_t tasks) {
  rows_[std::move(key)] += tasks;
}

void Sums::add_one(std::string_view name_space, std::string_view handler, std::string_view kind, TimePoint now) {
  const TimePoint day = day_of(now);
  const auto alike = [&](const CountKey& key) {
    return key.kind == kind && key.day == day && key.handler == handler && key.name_space == name_space;
  };
  if (last_ == rows_.end() || !alike(last_->first)) {
    last_ = rows_.try_emplace({day, std::string{name_space}, std::string{handler}, std::string{kind}}, 0).first;
  }
  ++last_->second;
}

void Sums::join_days(TimePoint before) {
  Rows old;
  for (auto row = rows_.begin(); row != rows_.end() && row->first.day < before;) {
    auto next = std::next(row);
    if (row->first.day != kFormerDays) old.insert(rows_.extract(row));
    row = next;
  }
  last_ = rows_.end();
  for (const auto& [key, tasks] : old) add({kFormerDays, key.name_space, key.handler, key.kind}, tasks);
}

void Sums::clear() {
  rows_.clear();
  last_ = rows_.end();
}

Counts counts_of(const Sums& sums, std::string_view name_space) {
  Counts counts;
  for (const auto& [key, tasks] : sums.rows()) {
    const auto ended = parse_outcome(key.kind);
    if (key.name_space != name_space || (!ended && key.kind != kStored)) continue;
    HandlerCounts& of_handler = counts[key.handler];
    add(of_handler.total, ended, tasks);
    if (key.day != kFormerDays) add(of_handler.days[std::chrono::floor<std::chrono::days>(key.day)], ended, tasks);
  }
  return counts;
}

}  // namespace easyretry::storage
