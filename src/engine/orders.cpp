#include "engine/orders.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "base/duration_text.h"
#include "storage/checks.h"

namespace easyretry::engine {
namespace {

// No name of a handler or of a circuit has a control character.
constexpr char kOrderMark = '\x1f';

// For the other parts of a stored reason: the state and the end of the order.
constexpr std::size_t kLongestOrderReason = 170;  // characters

// "open 1767225600000 the gateway moves", and 0 for an order without an end.
std::optional<CircuitOrder> parse_order(const PausedHandler& stored) {
  const std::string_view text = stored.why;
  const std::size_t state_end = text.find(' ');
  const std::size_t until_end = text.find(' ', state_end + 1);
  if (state_end == std::string_view::npos || until_end == std::string_view::npos) return std::nullopt;
  const std::string_view state = text.substr(0, state_end);
  const std::string_view until = text.substr(state_end + 1, until_end - state_end - 1);
  std::int64_t millis = 0;
  const auto [end, error] = std::from_chars(until.data(), until.data() + until.size(), millis);
  const bool known = state == to_string(CircuitState::open) || state == to_string(CircuitState::closed);
  if (!known || error != std::errc{} || end != until.data() + until.size()) return std::nullopt;
  CircuitOrder order{.since = stored.since, .why = std::string{text.substr(until_end + 1)}};
  order.state = state == to_string(CircuitState::open) ? CircuitState::open : CircuitState::closed;
  if (millis != 0) order.until = TimePoint{Millis{millis}};
  return order;
}

}  // namespace

std::optional<Error> refuse_order(std::string_view circuit, CircuitState state, std::optional<Millis> time,
                                  std::string_view why) {
  const auto refused = [](const std::string& because) { return Error{Errc::invalid_argument, "circuit", because}; };
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (circuit.empty() || circuit.size() >= storage::kLongestHandlerName || std::ranges::any_of(circuit, control)) {
    return refused("the name of a circuit has 1 to " + std::to_string(storage::kLongestHandlerName - 1) +
                   " bytes, without control characters, such as gateway");
  }
  if (storage::characters(why) > kLongestOrderReason) {
    return refused("the reason has " + std::to_string(storage::characters(why)) + " characters; " +
                   std::to_string(kLongestOrderReason) + " are allowed at most");
  }
  const bool ignored = state == CircuitState::closed;
  if (!time && ignored) return refused("say for how long the circuit is ignored, such as 10m");
  const Millis longest = ignored ? kLongestIgnore : kLongestOpen;
  if (!time || (*time >= kShortestOrder && *time <= longest)) return std::nullopt;
  return refused("a circuit can be " + std::string{ignored ? "ignored" : "held open"} + " for " +
                 base::to_text(kShortestOrder) + " to " + base::to_text(longest) + ", not for " + base::to_text(*time));
}

StoredOrder to_stored(std::string_view circuit, const CircuitOrder& order) {
  const std::int64_t until = order.until ? order.until->time_since_epoch().count() : 0;
  return {std::string{kOrderMark}.append(circuit),
          std::string{to_string(order.state)} + " " + std::to_string(until) + " " + order.why};
}

Circuit::Order by_steady_clock(const CircuitOrder& order, const StoreTime& time) {
  return {order.state, time.when(order.since), order.until ? time.when(*order.until) : Instant::max()};
}

CircuitOrders take_circuit_orders(storage::PausedReply& reply) {
  CircuitOrders orders;
  std::erase_if(reply.handlers, [&](const PausedHandler& stored) {
    if (!stored.handler.starts_with(kOrderMark)) return false;
    const auto order = parse_order(stored);
    if (order && (!order->until || *order->until > reply.now)) orders.emplace(stored.handler.substr(1), *order);
    return order.has_value();
  });
  return orders;
}

namespace {

// No name of a handler or of a circuit has a control character. The next byte says which of them it is.
constexpr char kLimitMark = '\x1e';
constexpr std::size_t kMarkBytes = 2;

constexpr std::string_view kHandlerSubject = "handler ";
constexpr std::string_view kCircuitSubject = "circuit ";

// For the other parts of a stored reason: three numbers.
constexpr std::size_t kLongestLimitReason = 150;  // characters

std::string limit_key(std::string_view subject) {
  return std::string{kLimitMark} + subject.front() + std::string{subject.substr(kHandlerSubject.size())};
}

std::string limit_subject(std::string_view key) {
  return std::string{key[1] == kHandlerSubject.front() ? kHandlerSubject : kCircuitSubject}.append(
      key.substr(kMarkBytes));
}

template <class Number>
bool parse_limit_number(std::string_view text, std::optional<Number>& value) {
  if (text == "-") return true;
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  value = number;
  return true;
}

// "5 2.5 10 the gateway moves", with - for a limit that is not set.
std::optional<LimitOrder> parse_limit_order(const PausedHandler& stored) {
  std::string_view rest = stored.why;
  std::vector<std::string_view> words;
  for (int i = 0; i < 3; ++i) {
    const std::size_t end = rest.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  LimitOrder order{.since = stored.since, .why = std::string{rest}};
  std::optional<int> burst;
  if (!parse_limit_number(words[0], order.limit.running) || !parse_limit_number(words[1], order.limit.per_second) ||
      !parse_limit_number(words[2], burst)) {
    return std::nullopt;
  }
  order.limit.burst = burst.value_or(1);
  return refuse_limit(limit_subject(stored.handler), order.limit, order.why) ? std::nullopt : std::optional{order};
}

Error refused_limit(const std::string& because) {
  return {Errc::invalid_argument, "limit", because};
}

}  // namespace

std::optional<Error> refuse_subject(std::string_view subject) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  const bool known = subject.starts_with(kHandlerSubject) || subject.starts_with(kCircuitSubject);
  const std::string_view name = known ? subject.substr(kHandlerSubject.size()) : std::string_view{};
  if (!name.empty() && name.size() <= storage::kLongestHandlerName - kMarkBytes &&
      !std::ranges::any_of(name, control)) {
    return std::nullopt;
  }
  return refused_limit(
      fmt::format("a limit is about \"handler NAME\" or \"circuit NAME\", with a name of 1 to {} bytes "
                  "without control characters",
                  storage::kLongestHandlerName - kMarkBytes));
}

std::optional<Error> refuse_limit(std::string_view subject, const LimitOptions& limit, std::string_view why) {
  if (auto error = refuse_subject(subject)) return error;
  if (!limit.any()) return refused_limit("say running, per_second or both; to end a limit, reset it");
  if (storage::characters(why) > kLongestLimitReason) {
    return refused_limit(fmt::format("the reason has {} characters; {} are allowed at most", storage::characters(why),
                                     kLongestLimitReason));
  }
  try {
    validate(limit);
  } catch (const std::invalid_argument& error) {
    return refused_limit(error.what());
  }
  return std::nullopt;
}

StoredOrder to_stored(std::string_view subject, const LimitOrder& order) {
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string{"-"}; };
  return {limit_key(subject), fmt::format("{} {} {} {}", text(order.limit.running), text(order.limit.per_second),
                                          order.limit.burst, order.why)};
}

LimitOrders take_limit_orders(storage::PausedReply& reply) {
  LimitOrders orders;
  std::erase_if(reply.handlers, [&](const PausedHandler& stored) {
    if (stored.handler.size() <= kMarkBytes || !stored.handler.starts_with(kLimitMark)) return false;
    const auto order = parse_limit_order(stored);
    if (order) orders.emplace(limit_subject(stored.handler), *order);
    return order.has_value();
  });
  return orders;
}

LimitOptions stricter(const LimitOptions& configured, const LimitOptions& ordered) {
  LimitOptions both = configured;
  if (ordered.running) both.running = std::min(*ordered.running, configured.running.value_or(*ordered.running));
  const bool slower = ordered.per_second && (!configured.per_second || *ordered.per_second < *configured.per_second);
  if (slower) {
    both.per_second = ordered.per_second;
    both.burst = ordered.burst;
  }
  return both;
}

}  // namespace easyretry::engine
