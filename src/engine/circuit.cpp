#include "engine/circuit.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace easyretry {

std::string_view to_string(CircuitState state) {
  return state == CircuitState::open ? "open" : "closed";
}

}  // namespace easyretry

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

// After a long good time, half a window would pass before an outage is noticed. So a circuit also opens when nearly
// everything failed within the last two seconds.
constexpr auto kSuddenly = 2s;

// A change stays in the reports for this long, so that an instance that was away for a while still learns of it.
constexpr auto kReportChangeFor = 60s;

// An instance that has not reported for this long gets no share of the starts.
constexpr auto kSilentFor = 3s;

constexpr Millis kLongestRest = 10min;

// Starts are allowed in steps, so that a Claimer does not wake up for each of them.
constexpr auto kStep = 50ms;

constexpr double kRounding = 1e-6;  // so that next_start() is not a moment too early

std::int64_t second_of(Instant when) {
  return std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void AnswerWindow::add(Instant now, AnswerSums sums) {
  const std::int64_t number = second_of(now);
  Second& second = ring_[static_cast<std::size_t>(number % kSeconds)];
  if (second.number > number) return;  // too long ago
  if (second.number != number) second = {number, {}};
  second.sums += sums;
}

AnswerSums AnswerWindow::since(Instant from) const {
  AnswerSums sums;
  const std::int64_t first = second_of(from) + 1;
  for (const Second& second : ring_) {
    if (second.number < first) continue;
    sums += second.sums;
  }
  return sums;
}

void Circuit::set(const CircuitOptions& options) {
  retries_.set(options.retries_at_most, options.probes);
  const std::lock_guard lock{mutex_};
  options_ = options;
}

CircuitOptions Circuit::options() const {
  const std::lock_guard lock{mutex_};
  return options_;
}

void Circuit::record(Instant now, bool answered) {
  const std::lock_guard lock{mutex_};
  here_.add(now, answered);
  if (!answered) judge(now);
}

void Circuit::rest(Instant now, Millis time) {
  const std::lock_guard lock{mutex_};
  rest_until_ = std::max<Instant>(rest_until_, now + std::clamp(time, Millis{0}, kLongestRest));
  if (state_ == CircuitState::open || ordered(now)) return;
  turn(CircuitState::open, now);
  held_back_at_ = now;
}

void Circuit::obey(Instant now, std::optional<Order> order) {
  const std::lock_guard lock{mutex_};
  order_ = order;
  if (!ordered(now) || (state_ == order->state && since_ >= order->since)) return;
  turn(order->state, std::max(since_, order->since));
}

std::size_t Circuit::reserve(Instant now, std::size_t wanted) {
  const std::lock_guard lock{mutex_};
  judge(now);
  if (state_ == CircuitState::closed || wanted == 0) return wanted;
  refill(now);
  const auto granted = ordered(now) ? 0 : std::min(wanted, static_cast<std::size_t>(tokens_ + kRounding));
  tokens_ -= static_cast<double>(granted);
  if (granted < wanted) held_back_at_ = now;
  return granted;
}

bool Circuit::has_room(Instant now) {
  const std::lock_guard lock{mutex_};
  judge(now);
  if (state_ == CircuitState::closed) return true;
  refill(now);
  const bool room = !ordered(now) && tokens_ + kRounding >= 1;
  if (!room) held_back_at_ = now;
  return room;
}

Instant Circuit::next_start(Instant now) {
  const std::lock_guard lock{mutex_};
  if (state_ == CircuitState::closed) return Instant::max();
  if (ordered(now)) return order_->until;
  if (held_back_at_ + options_.window < now) return Instant::max();
  refill(now);
  const double missing = std::max(0.0, 1 - tokens_);
  return now + std::max<Instant::duration>(
                   kStep, std::chrono::ceil<Millis>(std::chrono::duration<double>(missing / rate(now))));
}

std::size_t Circuit::room_for_retries(Instant now, std::size_t wanted) {
  {
    const std::lock_guard lock{mutex_};
    if (!ordered(now) || order_->state == CircuitState::open) return retries_.room(now, wanted);
  }
  retries_.lift();
  return wanted;
}

Circuit::View Circuit::view(Instant now) {
  const std::lock_guard lock{mutex_};
  judge(now);
  View view{state_, since_, sums(now)};
  view.ordered = ordered(now);
  if (state_ == CircuitState::open) view.starts_per_second = view.ordered ? 0 : rate(now);
  return view;
}

std::optional<CircuitState> Circuit::take_change(Instant now) {
  const std::lock_guard lock{mutex_};
  judge(now);
  return std::exchange(change_, std::nullopt);
}

std::optional<CircuitReport> Circuit::report(Instant now) const {
  const std::lock_guard lock{mutex_};
  CircuitReport report{now, state_, since_, held_back_at_, rest_until_, {}};
  const Instant from = now - options_.window;
  const bool changed_lately = since_ != Instant::min() && now - since_ < kReportChangeFor;
  if (here_.since(from).total() == 0 && held_back_at_ < from && !changed_lately) return std::nullopt;
  for (Instant second = now; second > from; second -= 1s) {
    report.seconds.push_back(here_.since(second - 1s) - here_.since(second));
  }
  return report;
}

void Circuit::learn(Instant now, std::span<const CircuitReport> others) {
  const std::lock_guard lock{mutex_};
  others_ = {};
  int waiting = 0;
  for (const CircuitReport& other : others) {
    Instant second = other.made;
    for (const AnswerSums& sums : other.seconds) {
      others_.add(second, sums);
      second -= 1s;
    }
    rest_until_ = std::max(rest_until_, other.rest_until);
    others_held_back_at_ = std::max(others_held_back_at_, other.held_back_at);
    if (other.made > now - kSilentFor && other.held_back_at > other.made - kSilentFor) ++waiting;
    if (other.since > since_ && !ordered(now)) turn(other.state, other.since);
  }
  if (state_ == CircuitState::open) refill(now);
  share_ = 1.0 / (1 + waiting);
  judge(now);
}

void Circuit::judge(Instant now) {
  if (ordered(now)) return;
  if (state_ == CircuitState::closed) {
    const AnswerSums all = sums(now);
    const auto enough = [&](const AnswerSums& sums) {
      return sums.total() >= static_cast<std::uint64_t>(options_.least);
    };
    const AnswerSums latest = since(std::max(now - kSuddenly, since_));
    const bool suddenly = enough(latest) && latest.fails_more_than((1 + options_.trip_at) / 2);
    if (!suddenly && !(enough(all) && all.fails_more_than(options_.trip_at))) return;
    turn(CircuitState::open, now);
    held_back_at_ = now;
    return;
  }
  const Instant held_back_at = std::max({held_back_at_, others_held_back_at_, since_});
  if (held_back_at >= now - options_.window || now < rest_until_) return;
  // Earlier ones count as well: after the last task of a backlog there may be nothing more to call.
  const AnswerSums lately = since(std::max(held_back_at - options_.window, since_));
  if (lately.answered > 0 && !lately.fails_more_than(options_.trip_at)) turn(CircuitState::closed, now);
}

void Circuit::turn(CircuitState state, Instant since) {
  if (state_ != state) change_ = state;
  state_ = state;
  since_ = since;
  refilled_at_ = std::max(refilled_at_, since);
  tokens_ = 0;
}

AnswerSums Circuit::since(Instant from) const {
  AnswerSums sums = here_.since(from);
  sums += others_.since(from);
  return sums;
}

// Attempts that ended before it opened or closed do not count: the answers before an outage say nothing about it.
AnswerSums Circuit::sums(Instant now) const {
  return since(std::max(now - options_.window, since_));
}

// As many starts per answer of the last window as keep the share of failures at trip_at, plus the probes.
double Circuit::rate(Instant now) const {
  if (now < rest_until_) return share_ * options_.probes;
  const double answers_per_second = static_cast<double>(sums(now).answered) / seconds(options_.window);
  return share_ * (options_.probes + answers_per_second / (1 - options_.trip_at));
}

// Starts that were not used in time are lost: a backlog does not come all at once.
void Circuit::refill(Instant now) {
  const double per_second = rate(now);
  const double most = std::max(1.0, per_second);  // of one second, which is longer than a slow claim takes
  tokens_ = std::min(most, tokens_ + per_second * seconds(now - refilled_at_));
  refilled_at_ = now;
}

}  // namespace easyretry::engine
