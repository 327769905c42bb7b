#include "engine/circuit_orders.h"

#include <algorithm>
#include <charconv>

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

}  // namespace easyretry::engine
