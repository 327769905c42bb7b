// Circuits and limits as operators see them, and the orders that operators give (decisions 61 and 65).

#include <algorithm>

#include "engine/core.h"

namespace easyretry::engine {

// Tasks that were claimed ahead would be attempts against a downstream that is down.
void Core::circuit_opened() {
  const Instant now = context_->clock.steady();
  hand_back_waiting([now](const Run& run) {
    const auto& circuit = run.handler->circuit;
    return !run.settled && circuit && circuit->view(now).state == CircuitState::open;
  });
}

std::vector<CircuitInfo> Core::circuits() {
  const Instant now = context_->clock.steady();
  const auto table = context_->handlers.snapshot();
  const auto orders = context_->pauses.orders();
  std::vector<CircuitInfo> found;
  for (const auto& [name, circuit] : table->circuits) {
    const Circuit::View view = circuit->view(now);
    CircuitInfo& info = found.emplace_back();
    info.name = name;
    info.state = view.state;
    info.retries_at_most = circuit->options().retries_at_most;
    const auto retries_held_since = circuit->retries().held_since();
    for (std::size_t no = 0; no < table->by_number.size(); ++no) {
      const KnownHandler& known = *table->by_number[no];
      if (known.circuit != circuit) continue;
      info.handlers.push_back(known.handler.name);
      if (view.state == CircuitState::open) info.held += schedule_.ready(static_cast<HandlerNo>(no));
      if (retries_held_since) info.held_retries += schedule_.retries_apart(static_cast<HandlerNo>(no));
    }
    if (info.held_retries > 0) info.retries_held_since = context_->store_time.at(*retries_held_since);
    if (view.since != Instant::min()) info.since = context_->store_time.at(view.since);
    info.answered = view.sums.answered;
    info.failed = view.sums.failed;
    info.starts_per_second = view.starts_per_second;
    const auto order = orders->circuits.find(name);
    if (view.ordered && order != orders->circuits.end()) info.order = order->second;
  }
  return found;
}

std::shared_ptr<Circuit> Core::circuit(const std::string& name) {
  const auto table = context_->handlers.snapshot();
  const auto found = table->circuits.find(name);
  return found == table->circuits.end() ? nullptr : found->second;
}

void Core::keep_known(Circuit& circuit) {
  const Instant now = context_->clock.steady();
  if (!context_->pauses.recent(now)) context_->pauses.want();
  if (circuit.is_known(now)) return;
  circuit.want();
  context_->circuits.notify();
}

Result<CircuitOrder> Core::order_circuit(std::string_view name, CircuitState state, std::optional<Millis> time,
                                         std::string_view why) {
  if (auto error = refuse_order(name, state, time, why)) return tl::unexpected(*std::move(error));
  CircuitOrder order{.state = state, .since = context_->store_now(), .why = std::string{why}};
  if (time) order.until = order.since + *time;
  return store_order(to_stored(name, order)).map([&] {
    // At once, for code that asks circuit.open() next; the watch does the rest.
    const auto here = circuit(std::string{name});
    if (here) here->obey(context_->clock.steady(), by_steady_clock(order, context_->store_time));
    return order;
  });
}

Result<bool> Core::reset_circuit(std::string_view name) {
  if (auto error = refuse_order(name, CircuitState::open, std::nullopt, {})) return tl::unexpected(*std::move(error));
  return circuit_orders().and_then([&](const CircuitOrders& orders) -> Result<bool> {
    // Also if its time is over: it is still in the store.
    const auto removed = resume(to_stored(name, CircuitOrder{}).key);
    if (!removed) return tl::unexpected(removed.error());
    if (const auto here = circuit(std::string{name})) here->obey(context_->clock.steady(), std::nullopt);
    return orders.contains(std::string{name});
  });
}

Result<CircuitOrders> Core::circuit_orders() {
  return store_->paused(options().name_space).map([](storage::PausedReply reply) {
    return take_circuit_orders(reply);
  });
}

std::vector<LimitInfo> Core::limits() {
  const auto table = context_->handlers.snapshot();
  std::vector<LimitInfo> found;
  for (const auto& [subject, brake] : table->brakes) {
    const Brake::View view = brake->view();
    LimitInfo& info = found.emplace_back();
    info.subject = subject;
    info.running = view.limit.running;
    info.per_second = view.limit.per_second;
    info.burst = view.limit.burst;
    const auto order = table->limit_orders.find(subject);
    if (order != table->limit_orders.end()) info.order = order->second;
    info.running_here = static_cast<std::uint64_t>(view.running);
    info.seats_here = static_cast<std::uint64_t>(view.seats);
    info.starts_per_second_here = view.per_second;
    for (std::size_t no = 0; no < table->by_number.size(); ++no) {
      const KnownHandler& known = *table->by_number[no];
      if (std::ranges::find(known.brakes, brake) == known.brakes.end()) continue;
      info.handlers.push_back(known.handler.name);
      if (view.held) info.held_tasks += schedule_.ready(static_cast<std::uint32_t>(no));
    }
    if (info.held_tasks > 0) info.holds_since = context_->store_time.at(*view.held);
  }
  return found;
}

Result<LimitOrder> Core::order_limit(std::string_view subject, const LimitOptions& limit, std::string_view why) {
  if (auto error = refuse_limit(subject, limit, why)) return tl::unexpected(*std::move(error));
  LimitOrder order{.limit = limit, .since = context_->store_now(), .why = std::string{why}};
  return store_order(to_stored(subject, order)).map([&] { return order; });
}

Result<bool> Core::reset_limit(std::string_view subject) {
  if (auto error = refuse_subject(subject)) return tl::unexpected(*std::move(error));
  return resume(to_stored(subject, LimitOrder{}).key);
}

Result<LimitOrders> Core::limit_orders() {
  return store_->paused(options().name_space).map([](storage::PausedReply reply) { return take_limit_orders(reply); });
}

}  // namespace easyretry::engine
