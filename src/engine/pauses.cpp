#include "engine/pauses.h"

#include "engine/context.h"
#include "engine/schedule.h"

namespace easyretry::engine {
namespace {

constexpr auto kAskEvery = std::chrono::seconds{1};

}  // namespace

Orders take_orders(storage::PausedReply& reply) {
  return {take_circuit_orders(reply), take_limit_orders(reply)};
}

void PauseWatch::look_now() {
  now_ = true;
  context_.pauses.wakeup.notify();
}

Step PauseWatch::step() {
  KnownPauses& pauses = context_.pauses;
  const Instant now = context_.clock.steady();
  const bool at_once = now_.exchange(false);
  // After a failure, claims rely on the last answer. That must not last until the next claim.
  const bool needed = pauses.wanted() || pauses.any() || schedule_.held() > 0 || failures_ > 0;
  if (!at_once && !needed) return {};
  if (!at_once && now < next_) return {false, next_};
  pauses.asked();
  const std::uint64_t pauses_here = pauses.pauses_here();  // read before asking, so that the answer includes them
  const auto reply =
      context_.ask(StoreVerb::paused, [&](storage::Store& store) { return store.paused(context_.options.name_space); });
  if (reply) {
    failures_ = 0;
    next_ = now + kAskEvery;
    heard(*reply, now, pauses_here);
  } else {
    next_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
    pauses.store_did_not_answer();
  }
  context_.claiming.notify();
  return {true, next_};
}

void PauseWatch::heard(storage::PausedReply reply, Instant asked, std::uint64_t pauses_here) {
  Orders orders = take_orders(reply);
  KnownPauses::Names names;
  for (const PausedHandler& paused : reply.handlers) names.insert(paused.handler);
  const bool changed = names != *context_.pauses.snapshot() || orders != *context_.pauses.orders();
  give_orders(orders);  // before learn(): tasks are claimed after it
  context_.pauses.learn(std::move(names), std::move(orders), asked, pauses_here);
  if (changed) changed_();
}

void PauseWatch::give_orders(const Orders& orders) {
  context_.handlers.order_limits(orders.limits);
  const Instant now = context_.clock.steady();
  for (const auto& [name, circuit] : context_.handlers.snapshot()->circuits) {
    const auto order = orders.circuits.find(name);
    if (order == orders.circuits.end()) {
      circuit->obey(now, std::nullopt);
    } else {
      circuit->obey(now, by_steady_clock(order->second, context_.store_time));
    }
  }
}

}  // namespace easyretry::engine
