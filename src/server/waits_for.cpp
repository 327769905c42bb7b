#include "server/waits_for.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/duration_text.h"
#include "base/utf8.h"
#include "call/errors.h"
#include "server/served_handlers.h"
#include "task/transitions.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using base::to_text;

// "attempt 3 of 10", "attempt 3", or the callback that is due.
std::string step_of(const task::TaskRecord& record, int attempt) {
  if (record.info.stage != Stage::run) return "its callback " + std::string{to_string(record.info.stage)};
  const int most = record.rules.max_attempts;
  return most == 0 ? fmt::format("attempt {}", attempt) : fmt::format("attempt {} of {}", attempt, most);
}

WaitsFor finished(const TaskInfo& info) {
  const std::string outcome = info.outcome ? std::string{to_string(*info.outcome)} : "unknown";
  WaitsFor answer{.kind = "finished", .text = "it has ended: " + outcome, .since = info.finished_at};
  if (info.requeued_as) answer.text += ", and was requeued as " + to_string(*info.requeued_as);
  return answer;
}

WaitsFor running(const task::TaskRecord& record, TimePoint now) {
  const std::string by = base::storable_utf8(record.locked_by);
  const bool over = record.lease_until <= now;
  const std::string text =
      over ? fmt::format("{} held it until {} and has not said how it ended; another instance takes over", by,
                         to_text(record.lease_until))
           : fmt::format("{} is running on {}, whose lease lasts until {}", step_of(record, record.info.attempts), by,
                         to_text(record.lease_until));
  return {.kind = over ? "lease_over" : "running", .text = text, .until = record.lease_until, .by = by};
}

WaitsFor paused(const TaskInfo& info, const PausedHandler& pause) {
  const std::string why = base::storable_utf8(pause.why);
  return {.kind = "paused",
          .text = fmt::format("its handler {} has been paused since {}{}{}", base::storable_utf8(info.handler),
                              to_text(pause.since), why.empty() ? "" : ": ", why),
          .since = pause.since,
          .why = why};
}

WaitsFor held_by_order(const TaskInfo& info, const std::string& circuit, const CircuitOrder& order) {
  const std::string why = base::storable_utf8(order.why);
  return {.kind = "circuit",
          .text = fmt::format("the circuit {} has been held open by hand since {}, and nothing starts until {}{}{}",
                              circuit, to_text(order.since), order.until ? to_text(*order.until) : "it is reset",
                              why.empty() ? "" : ": ", why),
          .since = std::max(order.since, info.next_at),
          .until = order.until,
          .why = why};
}

// "about 0.2 tasks a second start until it closes, the next one within 5 s"
std::string starts_of(const CircuitInfo& circuit) {
  const double rate = circuit.starts_per_second.value_or(0);
  const std::string text = fmt::format("about {:.3g} tasks a second start until it closes", rate);
  if (rate <= 0) return text;
  const Millis between{static_cast<std::int64_t>(1000 / rate)};
  return fmt::format("{}, the next one within {}", text, base::age_text(std::max<Millis>(between, 1s)));
}

WaitsFor held_back(const TaskInfo& info, const CircuitInfo& circuit, TimePoint now) {
  const std::string name = base::storable_utf8(circuit.name);
  if (circuit.order) return held_by_order(info, name, *circuit.order);
  const TimePoint since = std::max(*circuit.since, info.next_at);
  return {.kind = "circuit",
          .text = fmt::format(
              "the circuit {} has been open since {}, because calls fail; it has waited for that for {}; {}", name,
              to_text(*circuit.since), base::age_text(now - since), starts_of(circuit)),
          .since = since};
}

WaitsFor held_by_budget(const TaskInfo& info, const CircuitInfo& circuit, TimePoint now) {
  const TimePoint since = std::max(*circuit.retries_held_since, info.next_at);
  return {.kind = "retry_budget",
          .text = fmt::format(
              "the circuit {} lets at most {:.3g} % of the attempts be retries, and has held retries back since {}; it "
              "has waited for that for {}, with {} due retries on the instance that answers",
              base::storable_utf8(circuit.name), 100 * circuit.retries_at_most.value_or(0),
              to_text(*circuit.retries_held_since), base::age_text(now - since), circuit.held_retries),
          .since = since};
}

// "handler pay allows 5 running tasks and 10 starts a second"
std::string allowed_by(const LimitInfo& limit) {
  std::string text = base::storable_utf8(limit.subject) + " allows";
  if (limit.running) text += fmt::format(" {} running task{}", *limit.running, *limit.running == 1 ? "" : "s");
  if (limit.running && limit.per_second) text += " and";
  if (limit.per_second) text += fmt::format(" {:.3g} starts a second", *limit.per_second);
  return text;
}

WaitsFor limited(const TaskInfo& info, const LimitInfo& limit, TimePoint now) {
  const TimePoint since = std::max(*limit.holds_since, info.next_at);
  const std::string why = limit.order ? base::storable_utf8(limit.order->why) : "";
  return {.kind = "limit",
          .text = fmt::format(
              "the limit of {} on all instances together{}{}; it has waited for that for {}, with {} due "
              "tasks on the instance that answers",
              allowed_by(limit), why.empty() ? "" : ": ", why, base::age_text(now - since), limit.held_tasks),
          .since = since,
          .why = why};
}

WaitsFor not_due(const task::TaskRecord& record) {
  const TaskInfo& info = record.info;
  const std::string due = to_text(info.next_at);
  if (info.last_error.empty() || info.stage != Stage::run) {
    return {.kind = "later",
            .text = fmt::format("{} is due at {}", step_of(record, info.attempts + 1), due),
            .until = info.next_at};
  }
  return {.kind = "retry",
          .text = fmt::format("{} failed, and the next one is due at {}", step_of(record, info.attempts), due),
          .since = info.last_failed_at,
          .until = info.next_at};
}

std::string_view turns_of(TaskClass task_class) {
  switch (task_class) {
    case TaskClass::urgent: return "; of 21 tasks that start, 16 are urgent, as it is";
    case TaskClass::background: return "; of 21 tasks that start while others wait, 1 is of the background, as it is";
    case TaskClass::normal: break;
  }
  return "";
}

WaitsFor due(const TaskInfo& info, const Surroundings& around) {
  const std::string late = base::age_text(around.now - info.next_at);
  if (!around.served) {
    return {.kind = "no_handler",
            .text = fmt::format("it has been due for {}, and no instance or worker takes tasks of its handler {}", late,
                                base::storable_utf8(info.handler)),
            .since = info.next_at};
  }
  return {.kind = "due",
          .text = fmt::format("it has been due for {}, behind other tasks or until a worker is free{}", late,
                              turns_of(info.task_class)),
          .since = info.next_at};
}

}  // namespace

WaitsFor waits_for(const task::TaskRecord& record, const Surroundings& around) {
  const TaskInfo& info = record.info;
  if (info.state == TaskState::finished) return finished(info);
  if (info.state == TaskState::running) return running(record, around.now);
  if (around.paused) return paused(info, *around.paused);
  if (info.next_at > around.now) return not_due(record);
  if (around.circuit) return held_back(info, *around.circuit, around.now);
  if (around.budget && task::is_retried(record)) return held_by_budget(info, *around.budget, around.now);
  return around.limit ? limited(info, *around.limit, around.now) : due(info, around);
}

WaitsFor waits_for(Namespace& name_space, const task::TaskRecord& record) {
  const std::string& handler = record.info.handler;
  Surroundings around{.now = name_space.core().store_now()};
  if (record.info.state == TaskState::pending) {
    for (PausedHandler& one : call::value_or_throw(name_space.core().paused()).handlers) {
      if (one.handler == handler) around.paused = std::move(one);
    }
    for (CircuitInfo& one : name_space.core().circuits()) {
      if (std::ranges::count(one.handlers, handler) == 0) continue;
      if (one.retries_held_since) around.budget = one;
      if (one.state == CircuitState::open) around.circuit = std::move(one);
    }
    for (LimitInfo& one : name_space.core().limits()) {
      if (one.holds_since && std::ranges::count(one.handlers, handler) > 0) around.limit = std::move(one);
    }
    around.served = ServedHandlers{name_space}.is_served(handler);
  }
  return waits_for(record, around);
}

}  // namespace easyretry::server
