#include "engine/renewer.h"

#include <algorithm>
#include <map>

namespace easyretry::engine {
namespace {

// A handler that ignores its stop token for this many timeouts is considered hung: its lease is not renewed any more.
constexpr int kHungAfterTimeouts = 2;

bool hung(const Run& run, Instant now) {
  const Millis timeout = run.handler->handler.options.timeout;
  const Instant started = run.started;
  return timeout > Millis{0} && started != Instant::max() && now - started > kHungAfterTimeouts * timeout &&
         now > run.extended_until.load();
}

// A lease must not outlive the seat, which others get if this instance cannot tell them that it has it.
bool keeps_its_seat(const Run& run, Instant now) {
  return std::ranges::all_of(run.handler->brakes, [now](const auto& brake) { return brake->may_renew(now); });
}

}  // namespace

Step Renewer::step() {
  const Instant now = context_.clock.steady();
  std::vector<RunPtr> due;
  for (const RunPtr& run : in_flight_.all()) {
    check_timeout(*run, now);
    check_trust(*run, now);
    if (needs_renewal(*run, now)) due.push_back(run);
  }
  for (std::span<const RunPtr> rest{due}; !rest.empty();) {
    const std::size_t n = std::min(rest.size(), context_.live.batch.load());
    renew(rest.first(n));
    rest = rest.subspan(n);
  }
  look_after_lent(now);
  context_.failures.log_left_out(now);  // here, because this step comes regularly, however idle the engine is
  return {!due.empty(), next(now)};
}

// A worker that has renewed its lease at another instance still runs the task.
void Renewer::look_after_lent(Instant now) {
  const std::vector<task::Ticket> over = in_flight_.overdue(now);
  if (over.empty()) return;
  std::vector<TaskId> ids;
  for (const task::Ticket& ticket : over) ids.push_back(ticket.id);
  const auto found = context_.store.find(ids);
  if (!found) return;
  std::map<task::Ticket, TimePoint> running;
  for (const task::TaskRecord& record : *found) {
    if (record.info.state == TaskState::running) running[{record.info.id, record.info.version}] = record.lease_until;
  }
  for (const task::Ticket& ticket : over) {
    const auto held = running.find(ticket);
    if (held != running.end() && held->second > context_.store_now()) {
      in_flight_.prolong(ticket, context_.store_time.when(held->second));
    } else {
      in_flight_.forget(ticket);
    }
  }
}

// A lease is renewed with two thirds of it left, so that two renewals may fail before it is lost.
bool Renewer::needs_renewal(const Run& run, Instant now) const {
  const auto left = run.trusted_until.load() - now;
  return !run.settled && left < context_.options.lease * 6 / 10 && !hung(run, now) && keeps_its_seat(run, now);
}

void Renewer::check_timeout(Run& run, Instant now) {
  const Millis timeout = run.handler->handler.options.timeout;
  const Instant started = run.started;
  if (timeout == Millis{0} || started == Instant::max() || now - started < timeout) return;
  if (now < run.extended_until.load()) return;
  if (run.interrupt == Interrupt::none) Counters::add(context_.counters.timeouts);
  run.interrupt_with(Interrupt::timeout);
}

void Renewer::check_trust(Run& run, Instant now) {
  if (now < run.trusted_until.load() || run.interrupt != Interrupt::none) return;
  lose(run);
}

void Renewer::lose(Run& run) {
  Counters::add(context_.counters.leases_lost);
  run.interrupt_with(Interrupt::lease_lost);
  if (context_.events.heard()) {
    context_.events.tell(
        {EventKind::lease_lost, context_.store_now(), run.record.info, "another instance may run it now"});
  }
}

void Renewer::renew(std::span<const RunPtr> runs) {
  const Millis lease = context_.options.lease;
  std::vector<storage::Renewal> renewals;
  renewals.reserve(runs.size());
  for (const RunPtr& run : runs) renewals.push_back({run->ticket(), lease});

  const Instant sent = context_.clock.steady();
  const auto reply = context_.ask(StoreVerb::renew, [&](storage::Store& store) { return store.renew(renewals); });
  if (!reply) return;  // trust expires by itself
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (std::binary_search(reply->unanswered.begin(), reply->unanswered.end(), i)) continue;
    if (reply->applied[i]) {
      runs[i]->trust_until(trust(sent, lease));
      continue;
    }
    // Another instance has it, or it was settled a moment ago; only the former is a loss.
    if (in_flight_.find(renewals[i].ticket.id) != runs[i]) continue;
    if (runs[i]->interrupt == Interrupt::none) lose(*runs[i]);
  }
}

// Often enough to notice the shortest timeout within a tenth of it.
Instant Renewer::next(Instant now) const {
  Millis pause = context_.options.lease / 6;
  const auto table = context_.handlers.snapshot();
  for (const auto& known : table->by_number) {
    const Millis timeout = known->handler.options.timeout;
    if (timeout > Millis{0}) pause = std::min(pause, std::max(timeout / 10, Millis{1}));
  }
  return now + pause;
}

}  // namespace easyretry::engine
