#pragma once
// One claimed task on its way from the claim to the settlement.

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>

#include "engine/handlers.h"
#include "task/record.h"

namespace easyretry::engine {

// Until when, by our clock, a lease asked for at `sent` surely holds. A tenth of it is left aside for a slow reply and
// for clocks that run differently.
inline Instant trust(Instant sent, Millis lease) {
  return sent + lease - lease / 10;
}

// A claimed task that has waited for its worker for longer than this is looked at before it begins: somebody may have
// cancelled it. Whoever cancels waits for twice as long, and knows then that it will not begin any more.
inline constexpr Millis kBeginWithin{200};

enum class Interrupt { none, timeout, lease_lost, cancelled, draining };

struct Run {
  Run(task::TaskRecord claimed, std::shared_ptr<const KnownHandler> known, HandlerNo number, Instant trust)
      : record(std::move(claimed)), handler(std::move(known)), no(number), trusted_until(trust) {}

  // Fixed after construction
  const task::TaskRecord record;
  const std::shared_ptr<const KnownHandler> handler;
  const HandlerNo no;

  // Shared between the worker, the Renewer and whoever stops it
  std::atomic<Instant> trusted_until;  // by our clock the lease surely holds until then
  std::atomic<Instant> started{Instant::max()};
  std::atomic<Interrupt> interrupt{Interrupt::none};
  std::atomic<Instant> extended_until{Instant::min()};  // the handler asked to be let run until then
  std::stop_source stop;

  // A direct call instead of the stored arguments; null: the handler, as registered.
  detail::DirectCall* direct = nullptr;
  // Takes the outcome of a task that is in no store; empty: the Settler does.
  std::function<void(task::Settlement)> settled;

  task::Ticket ticket() const { return {record.info.id, record.info.version}; }

  // Trust only grows: a lease that the handler made longer is not shortened by the next renewal.
  void trust_until(Instant until) {
    Instant known = trusted_until;
    while (known < until && !trusted_until.compare_exchange_weak(known, until)) {
    }
  }

  // The first reason stays.
  void interrupt_with(Interrupt why) {
    auto none = Interrupt::none;
    interrupt.compare_exchange_strong(none, why);
    stop.request_stop();
  }
};

using RunPtr = std::shared_ptr<Run>;

}  // namespace easyretry::engine
