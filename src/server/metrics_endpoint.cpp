// /metrics: the counts and measurements of the namespaces' engines, and the backlog of their store, in the text format
// of Prometheus. Documented in docs/metrics.md.

#include <array>
#include <map>

#include "server/endpoints.h"
#include "server/metric_text.h"
#include "server/request_fields.h"
#include "server/task_answers.h"
#include "storage/lag.h"

namespace easyretry::server {
namespace {

using Labels = MetricText::Labels;

constexpr double kNanosASecond = 1e9;
constexpr double kMillisASecond = 1e3;

// The store may contain any number of handler names. Those beyond the bound share one line.
constexpr std::size_t kMostShownHandlers = 1000;
constexpr const char* kOtherHandlers = "(others)";

// Number of overdue tasks per shard that are read to find the oldest one of each handler.
constexpr std::size_t kTasksAShard = 16;

struct Counter {
  const char* name;
  std::uint64_t Stats::*value;
  const char* help;
};

constexpr std::array kCounters{
    Counter{"easyretry_stored_tasks_total", &Stats::stored, "Tasks stored."},
    Counter{"easyretry_claimed_tasks_total", &Stats::claimed, "Tasks claimed to be run."},
    Counter{"easyretry_retried_attempts_total", &Stats::retried, "Attempts that failed and were scheduled again."},
    Counter{"easyretry_handed_back_tasks_total", &Stats::handed_back, "Tasks given back without an attempt."},
    Counter{"easyretry_lost_claims_total", &Stats::lost_claims, "Claims for which another instance was first."},
    Counter{"easyretry_stale_settles_total", &Stats::stale_settles, "Outcomes ignored because the lease was lost."},
    Counter{"easyretry_lost_leases_total", &Stats::leases_lost, "Leases that ended while the task was running."},
    Counter{"easyretry_timeouts_total", &Stats::timeouts, "Attempts stopped by their handler's timeout."},
    Counter{"easyretry_store_errors_total", &Stats::store_errors, "Calls that the store failed or did not answer."},
    Counter{"easyretry_internal_errors_total", &Stats::internal_errors,
            "Bugs in EasyRetry itself that the engine survived."},
};

constexpr std::array<std::pair<Outcome, std::uint64_t Stats::*>, 6> kOutcomes{{
    {Outcome::succeeded, &Stats::succeeded},
    {Outcome::exhausted, &Stats::exhausted},
    {Outcome::rejected, &Stats::rejected},
    {Outcome::quarantined, &Stats::quarantined},
    {Outcome::parked, &Stats::parked},
    {Outcome::cancelled, &Stats::cancelled},
}};

void declare_all(MetricText& out) {
  for (const Counter& counter : kCounters) out.declare(MetricKind::counter, counter.name, counter.help);
  out.declare(MetricKind::counter, "easyretry_ended_tasks_total", "Tasks that reached their last state.");

  out.declare(MetricKind::counter, "easyretry_alerts_total", "Messages to alert channels, by result.");
  out.declare(MetricKind::counter, "easyretry_spans_sent_total", "Spans that the collector of traces has taken.");
  out.declare(MetricKind::counter, "easyretry_spans_dropped_total",
              "Spans that the collector did not take, or that did not fit into memory while it was away.");

  const auto gauge = [&](const char* name, const char* help) { out.declare(MetricKind::gauge, name, help); };
  gauge("easyretry_running_tasks", "Tasks claimed and not yet settled.");
  gauge("easyretry_read_ahead_tasks", "Tasks in memory, waiting to become due or for a worker.");
  gauge("easyretry_wheel_tasks", "Of those, tasks waiting to become due.");
  gauge("easyretry_ready_tasks", "Of those, due tasks waiting for a worker, by class.");
  gauge("easyretry_unserved_tasks", "Due tasks seen for handlers that are not known here.");
  gauge("easyretry_store_up", "1 if the store has answered for this page.");
  gauge("easyretry_backlog_tasks", "Tasks that have not ended, in the whole store.");
  gauge("easyretry_oldest_due_seconds", "How long the oldest due task that is not running has been due.");
  gauge("easyretry_shard_lag_seconds", "The same by shard, for shards with due tasks.");
  gauge("easyretry_circuit_held_tasks", "Due tasks in memory that an open circuit holds back.");
  gauge("easyretry_circuit_state", "1 if the circuit is open: tasks of its handlers are held back.");
  gauge("easyretry_limit_running_tasks",
        "Tasks of a limited handler or circuit that are claimed and not settled here.");
  gauge("easyretry_limit_seats", "Of the tasks that may run at a time, those that are reserved for this instance.");
  gauge("easyretry_held_tasks", "Due tasks in memory that a limit, an open circuit or its retry budget holds back.");
  gauge("easyretry_handler_paused", "1 if the handler is paused: no instance runs its tasks.");

  const auto histogram = [&](const char* name, const char* help) { out.declare(MetricKind::histogram, name, help); };
  histogram("easyretry_lateness_seconds", "From a task's due time to the start of its attempt.");
  histogram("easyretry_run_seconds", "From the start of an attempt to its end.");
  histogram("easyretry_claim_batch_tasks", "Tasks requested from the store by one claim.");
  histogram("easyretry_settle_batch_tasks", "Outcomes that one call wrote to the store.");
  histogram("easyretry_store_seconds", "Duration of store calls, including failed ones.");
}

class NamespaceMetrics {
 public:
  NamespaceMetrics(MetricText& out, Namespace& name_space)
      : out_(out), core_(name_space.core()), namespace_{"namespace", name_space.name()}, stats_(core_.stats()) {}

  void write() {
    write_counters();
    write_gauges();
    write_histograms();
    const bool up = write_backlog() && write_lag() && write_paused();
    out_.add("easyretry_store_up", {namespace_}, up ? 1 : 0);
  }

 private:
  void write_counters() {
    for (const Counter& counter : kCounters) add(counter.name, stats_.*counter.value);
    for (const auto& [outcome, value] : kOutcomes) {
      out_.add("easyretry_ended_tasks_total", {namespace_, {"outcome", std::string{to_string(outcome)}}},
               static_cast<double>(stats_.*value));
    }
  }

  void write_gauges() {
    std::uint64_t unserved = 0;
    for (const auto& [handler, tasks] : stats_.no_handler) unserved += tasks;
    add("easyretry_running_tasks", stats_.running);
    add("easyretry_read_ahead_tasks", stats_.read_ahead);
    add("easyretry_wheel_tasks", core_.in_wheel());
    const auto ready = core_.due_by_class();
    for (const TaskClass one : {TaskClass::urgent, TaskClass::normal, TaskClass::background}) {
      out_.add("easyretry_ready_tasks", {namespace_, {"class", std::string{to_string(one)}}},
               static_cast<double>(ready[static_cast<std::size_t>(one)]));
    }
    add("easyretry_unserved_tasks", unserved);
    for (const CircuitInfo& one : core_.circuits()) {
      out_.add("easyretry_circuit_held_tasks", {namespace_, {"circuit", one.name}}, one.held);
      // Not only the name: that is the reason if a limit of the circuit holds the tasks back.
      out_.add("easyretry_held_tasks", {namespace_, {"reason", "open circuit " + one.name}}, one.held);
      if (one.retries_at_most) {
        const std::string budget = "retry budget of circuit " + one.name;
        out_.add("easyretry_held_tasks", {namespace_, {"reason", budget}}, static_cast<double>(one.held_retries));
      }
      out_.add("easyretry_circuit_state", {namespace_, {"circuit", one.name}}, one.state == CircuitState::open ? 1 : 0);
    }
    for (const LimitInfo& one : core_.limits()) write_limit(one);
  }

  void write_limit(const LimitInfo& one) {
    const std::pair<std::string, std::string> limit{"limit", one.subject};
    out_.add("easyretry_limit_running_tasks", {namespace_, limit}, static_cast<double>(one.running_here));
    if (one.running) out_.add("easyretry_limit_seats", {namespace_, limit}, static_cast<double>(one.seats_here));
    out_.add("easyretry_held_tasks", {namespace_, {"reason", one.subject}}, static_cast<double>(one.held_tasks));
  }

  void write_histograms() {
    const engine::Measures& measures = core_.measures();
    out_.add("easyretry_lateness_seconds", {namespace_}, measures.lateness.read(), kNanosASecond);
    out_.add("easyretry_claim_batch_tasks", {namespace_}, measures.claim_batch.read(), 1);
    out_.add("easyretry_settle_batch_tasks", {namespace_}, measures.settle_batch.read(), 1);
    for (std::size_t i = 0; i < engine::kStoreVerbNames.size(); ++i) {
      out_.add("easyretry_store_seconds", {namespace_, {"verb", std::string{engine::kStoreVerbNames[i]}}},
               measures.store_latency[i].read(), kNanosASecond);
    }
    for (const auto& known : handlers_->by_number) {
      out_.add("easyretry_run_seconds", of_handler(known->handler.name), known->run_time->read(), kNanosASecond);
    }
  }

  bool write_backlog() {
    auto counts = core_.counts();
    if (!counts) return false;
    for (const auto& [name, number] : handlers_->by_name) counts->try_emplace(name);
    std::size_t lines = handlers_->by_name.size();
    std::int64_t others = 0;
    for (const auto& [name, of_handler_name] : *counts) {
      const std::int64_t live = of_handler_name.live();
      const bool known = handlers_->by_name.contains(name);
      if (!known && live == 0) continue;
      if (name == kOtherHandlers || (!known && ++lines > kMostShownHandlers)) {
        others += live;
      } else {
        out_.add("easyretry_backlog_tasks", of_handler(name), static_cast<double>(live));
      }
    }
    if (others > 0) out_.add("easyretry_backlog_tasks", of_handler(kOtherHandlers), static_cast<double>(others));
    return true;
  }

  bool write_lag() {
    auto lag = storage::look_for_lag(core_.store(), core_.options().name_space, kTasksAShard);
    if (!lag) return false;
    if (lag->complete) {
      for (const auto& [name, number] : handlers_->by_name) lag->handlers.try_emplace(name);
    }
    for (const auto& [name, late] : lag->handlers) {
      out_.add("easyretry_oldest_due_seconds", of_handler(name), seconds(late));
    }
    for (const auto& [shard, late] : lag->shards) {
      out_.add("easyretry_shard_lag_seconds", {namespace_, {"shard", std::to_string(static_cast<int>(shard))}},
               seconds(late));
    }
    return true;
  }

  bool write_paused() {
    const auto paused = core_.paused();
    if (!paused) return false;
    std::map<std::string, bool> all;
    for (const auto& [name, number] : handlers_->by_name) all.emplace(name, false);
    for (const PausedHandler& one : paused->handlers) all[one.handler] = true;
    for (const auto& [name, is] : all) out_.add("easyretry_handler_paused", of_handler(name), is ? 1 : 0);
    return true;
  }

  void add(std::string_view name, std::uint64_t value) { out_.add(name, {namespace_}, static_cast<double>(value)); }
  Labels of_handler(const std::string& name) const { return {namespace_, {"handler", name}}; }
  static double seconds(Millis time) { return static_cast<double>(time.count()) / kMillisASecond; }

  MetricText& out_;
  engine::Core& core_;
  const std::pair<std::string, std::string> namespace_;
  const Stats stats_;
  const std::shared_ptr<const engine::HandlerTable> handlers_ = core_.handlers().snapshot();
};

// Waits for the store. If it does not answer, only the store's own numbers are missing.
std::string metrics_text(const std::vector<std::shared_ptr<Namespace>>& namespaces,
                         const std::vector<alert::AlertService::Count>& alerts,
                         const std::optional<trace::SpanCounts>& spans) {
  MetricText out;
  declare_all(out);
  for (const auto& name_space : namespaces) NamespaceMetrics{out, *name_space}.write();
  for (const auto& [channel, delivered, failed] : alerts) {
    out.add("easyretry_alerts_total", {{"channel", channel}, {"result", "delivered"}}, static_cast<double>(delivered));
    out.add("easyretry_alerts_total", {{"channel", channel}, {"result", "failed"}}, static_cast<double>(failed));
  }
  if (spans) {
    out.add("easyretry_spans_sent_total", {}, static_cast<double>(spans->sent));
    out.add("easyretry_spans_dropped_total", {}, static_cast<double>(spans->dropped));
  }
  return out.text();
}

bool sees_all(const Call& call) {
  return call.by.name_space == kAnyNamespace && !call.request.header(kNamespaceHeader);
}

// A token for all namespaces sees them all, unless the request names one.
std::vector<std::shared_ptr<Namespace>> seen_by(const Call& call, const Namespaces& namespaces) {
  if (!sees_all(call)) return {call.name_space};
  std::vector<std::shared_ptr<Namespace>> all;
  for (const auto& [name, name_space] : namespaces) all.push_back(name_space);
  return all;
}

}  // namespace

// Alert channels and traces belong to no namespace, so a token for one namespace does not see them.
void add_metrics_endpoint(Api& api, const Namespaces& namespaces, const alert::AlertService& alerting,
                          const trace::TraceService* tracing) {
  api.add(http::Method::get, "/metrics", Right::view, PlainEndpoint{[namespaces, &alerting, tracing](const Call& call) {
            require_known(call.request, {});
            const bool all = sees_all(call);
            const auto alerts = all ? alerting.counts() : std::vector<alert::AlertService::Count>{};
            const auto counted = tracing != nullptr ? tracing->counts() : trace::SpanCounts{};
            const auto spans = all ? std::optional{counted} : std::nullopt;
            return http::Response{.body = metrics_text(seen_by(call, namespaces), alerts, spans),
                                  .content_type = "text/plain; version=0.0.4; charset=utf-8"};
          }});
}

}  // namespace easyretry::server
