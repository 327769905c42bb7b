#include "engine/seats.h"

#include <algorithm>

namespace easyretry::engine {

std::int64_t fair_share(std::int64_t total, std::int64_t wishes, std::span<const SeatReport> others) {
  std::vector<std::int64_t> all{wishes};
  for (const SeatReport& other : others) all.push_back(other.wishes);
  std::ranges::sort(all);
  // An instance that wants less than an even part of the rest gets its wish; the others share.
  std::int64_t left = total;
  std::int64_t level = total;
  auto many = static_cast<std::int64_t>(all.size());
  for (const std::int64_t one : all) {
    level = left / many;
    if (one > level) break;
    left -= one;
    --many;
    level = total;
  }
  if (wishes <= level) return wishes;
  const std::int64_t indivisible = left - level * many;
  const auto served_first =
      std::ranges::count_if(others, [&](const SeatReport& other) { return other.wishes > level && other.first; });
  return level + (served_first < indivisible ? 1 : 0);
}

void Seats::give_up(std::int64_t total, std::int64_t wishes) {
  wishes_ = wishes;
  usable_ = std::min({usable_, total, fair_share(total, wishes, others_)});
}

SeatReport Seats::announcement(std::int64_t total, std::int64_t wishes, std::int64_t in_use) {
  in_use_ = in_use;
  ours_ = std::min(ours_, std::max(usable_, in_use));
  usable_ = std::min({ours_, total, fair_share(total, wishes, others_)});
  announced_ = std::max({ours_, in_use, within_reach(total)});
  return {announced_, wishes};
}

void Seats::heard(std::int64_t total, std::vector<SeatReport> others, bool read_after) {
  others_ = std::move(others);
  if (asks_for_more() && read_after) take(total);
  usable_ = std::min(usable_, fair_share(total, wishes_, others_));
}

void Seats::take(std::int64_t total) {
#ifdef EASYRETRY_WITHOUT_SEATS_OF_OTHERS  // a guard removed, for the simulator (tests/sim)
  const std::int64_t left = total;
#else
  const std::int64_t left = total - taken_by_others();
#endif
  ours_ = std::max(ours_, std::min(announced_, left));
  usable_ = ours_;
}

bool Seats::unsettled(std::int64_t total) const {
  return within_reach(total) > ours_ || announced_ > std::max({ours_, in_use_, within_reach(total)});
}

std::int64_t Seats::within_reach(std::int64_t total) const {
  return std::min(fair_share(total, wishes_, others_), std::max<std::int64_t>(0, total - taken_by_others()));
}

std::int64_t Seats::taken_by_others() const {
  std::int64_t taken = 0;
  for (const SeatReport& other : others_) taken += other.seats;
  return taken;
}

}  // namespace easyretry::engine
