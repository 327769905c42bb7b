#include "sim/weather.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace easyretry::sim {

using namespace std::chrono_literals;

Weather::Fate Weather::fate_of_call(int instance) {
  if (calm_) return Fate::fine;
  const auto cut_off = cut_off_until_.find(instance);
  if (scheduler_.now() < down_until_ || (cut_off != cut_off_until_.end() && scheduler_.now() < cut_off->second)) {
    return Fate::unavailable;
  }
  if (dice_.chance(faults_.unavailable)) return Fate::unavailable;
  if (dice_.chance(faults_.request_lost)) return Fate::request_lost;
  if (dice_.chance(faults_.late)) return Fate::late;
  if (dice_.chance(faults_.reply_lost)) return Fate::reply_lost;
  if (dice_.chance(faults_.death_before)) return Fate::death_before;
  if (dice_.chance(faults_.death_after)) return Fate::death_after;
  return dice_.chance(faults_.slow) ? Fate::slow : Fate::fine;
}

Time Weather::one_way() {
  return dice_.between(Time{50us}, Time{1ms});
}

Time Weather::slow_way() {
  return dice_.between(Time{10ms}, std::max(Time{10ms}, slowest_));
}

// A refused connection is noticed at once, a lost packet after a time-out.
Time Weather::time_out() {
  if (dice_.chance(0.5)) return dice_.between(Time{100us}, Time{2ms});
  return dice_.chance(0.8) ? dice_.between(Time{1ms}, Time{1s}) : dice_.between(Time{1s}, Time{4s});
}

Time Weather::late_by() {
  return dice_.between(Time{1ms}, kLatest);
}

bool Weather::mix_up(std::vector<Member>& list, std::string_view self) {
  const auto known = [&](const Member& member) {
    return std::ranges::find(once_seen_, member.node, &Member::node) != once_seen_.end();
  };
  std::ranges::copy_if(list, std::back_inserter(once_seen_), std::not_fn(known));
  if (calm_ || scheduler_.now() >= lists_wrong_until_ || dice_.chance(0.3)) return false;
  switch (dice_.between(0, 3)) {
    case 0: list.clear(); break;
    case 1: std::erase_if(list, [&](const Member& member) { return member.node == self; }); break;
    case 2: std::erase_if(list, [&](const Member& member) { return member.node != self && dice_.chance(0.5); }); break;
    default: list = once_seen_;  // the dead among them
  }
  return true;
}

void Weather::cut_off_until(int instance, Time until) {
  Time& end = cut_off_until_[instance];
  end = std::max(end, until);
}

Time Weather::clears_at() const {
  Time clear = down_until_;
  for (const auto& [instance, until] : cut_off_until_) clear = std::max(clear, until);
  return clear;
}

}  // namespace easyretry::sim
