// Limits as this instance sees them, and limits that operators set at run time (decision 65).

#include <algorithm>

#include "engine/core.h"

namespace easyretry::engine {

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
