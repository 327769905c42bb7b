#include "engine/handlers.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/utf8.h"
#include "engine/workers.h"
#include "policy/decide.h"

namespace easyretry::detail {

Handler::Handler() : gate(std::make_shared<CallGate>()) {}
Handler::Handler(std::string handler_name, const Policy& policy_in_code, const HandlerOptions& handler_options)
    : name(std::move(handler_name)),
      policy(policy_in_code),
      options(handler_options),
      gate(std::make_shared<CallGate>()) {}
Handler::Handler(const Handler&) = default;
Handler::Handler(Handler&&) noexcept = default;
Handler& Handler::operator=(const Handler&) = default;
Handler& Handler::operator=(Handler&&) noexcept = default;
Handler::~Handler() = default;

}  // namespace easyretry::detail

namespace easyretry::engine {
namespace {

constexpr std::size_t kMaxName = 200;

void validate(const detail::Handler& handler) {
  const auto wrong = [&](const std::string& what) {
    throw std::invalid_argument("handler \"" + handler.name + "\": " + what);
  };
  if (handler.name.empty() || handler.name.size() > kMaxName) {
    wrong("a name has 1 to " + std::to_string(kMaxName) + " characters, such as \"payment.pay\"");
  }
  if (base::invalid_utf8(handler.name) != std::string::npos || handler.name.find('\0') != std::string::npos) {
    wrong("a name is UTF-8 text without NUL, because it is stored with each task");
  }
  if (handler.options.concurrency < 0) {
    wrong("concurrency is " + std::to_string(handler.options.concurrency) + "; use 1 or more, or 0 for the default");
  }
  if (handler.options.timeout < Millis{0}) wrong("timeout is negative; use 0 for no limit");
  if (handler.options.keep.value_or(Millis{0}) < Millis{0}) wrong("keep is negative; use 0 to keep no ended tasks");
  if (handler.options.keep_args.value_or(Millis{0}) < Millis{0}) {
    wrong("keep_args is negative; use 0 to keep no arguments of ended tasks");
  }
  if (handler.options.keep_results < Millis{0}) wrong("keep_results is negative; use 0 to keep no results");
  if (handler.options.circuit) {
    try {
      easyretry::validate(*handler.options.circuit);
    } catch (const std::invalid_argument& e) {
      wrong(e.what());
    }
  }
  if (handler.options.limit) {
    try {
      easyretry::validate(*handler.options.limit);
    } catch (const std::invalid_argument& e) {
      wrong(e.what());
    }
  }
  if (handler.options.payload_version < 1) wrong("payload_version must be 1 or more");
  if (handler.policy.success_when.expression() != nullptr && !handler.no_expression_because.empty()) {
    wrong("success_when = \"" + handler.policy.success_when.text() +
          "\" cannot be evaluated: " + std::string{handler.no_expression_because});
  }
  try {
    easyretry::validate(handler.policy);
  } catch (const std::invalid_argument& e) {
    wrong(e.what());
  }
}

bool has_circuit(const detail::Handler& handler) {
  return handler.options.circuit && handler.options.circuit->trip_at < 1;
}

bool same_rules(CircuitOptions a, const CircuitOptions& b) {
  a.name = b.name;  // two names may differ: one may be the handler's own name
  return a == b;
}

// The name of its circuit.
std::string circuit_of(const detail::Handler& handler) {
  if (!handler.options.circuit->name.empty()) return handler.options.circuit->name;
  std::string server = handler.remote ? handler.remote->calls() : "";
  return server.empty() ? handler.name : server;
}

// Gives each handler its circuit. One that is in the table already keeps its state. Throws std::invalid_argument if two
// handlers configure a circuit differently.
void join_circuits(HandlerTable& table) {
  std::map<std::string, const detail::Handler*> owners;
  for (const auto& known : table.by_number) {
    const detail::Handler& handler = known->handler;
    if (!has_circuit(handler)) continue;
    const auto [owner, first] = owners.emplace(circuit_of(handler), &handler);
    if (!first && !same_rules(*owner->second->options.circuit, *handler.options.circuit)) {
      throw std::invalid_argument("circuit \"" + owner->first + "\" is configured differently by the handlers \"" +
                                  owner->second->name + "\" and \"" + handler.name +
                                  "\"; give it the same settings in both, or use two names");
    }
  }
  std::erase_if(table.circuits, [&](const auto& circuit) { return !owners.contains(circuit.first); });
  for (const auto& [name, owner] : owners) {
    auto& circuit = table.circuits[name];
    if (!circuit) circuit = std::make_shared<Circuit>(*owner->options.circuit);
    circuit->set(*owner->options.circuit);
  }
  for (auto& known : table.by_number) {
    const auto circuit = has_circuit(known->handler) ? table.circuits.at(circuit_of(known->handler)) : nullptr;
    if (known->circuit == circuit) continue;
    auto joined = std::make_shared<KnownHandler>(*known);
    joined->circuit = circuit;
    known = std::move(joined);
  }
}

// The plan for a brake, with the handlers whose tasks it counts.
struct BrakePlan {
  LimitOptions limit{};
  std::vector<std::shared_ptr<const Holdings>> handlers{};
};

std::vector<std::pair<std::string, LimitOptions>> limits_of(const detail::Handler& handler, const LimitOrders& orders) {
  std::vector<std::pair<std::string, LimitOptions>> limits;
  limits.emplace_back("handler " + handler.name, handler.options.limit.value_or(LimitOptions{}));
  if (has_circuit(handler)) limits.emplace_back("circuit " + circuit_of(handler), handler.options.circuit->limit);
  for (auto& [subject, limit] : limits) {
    const auto order = orders.find(subject);
    if (order != orders.end()) limit = stricter(limit, order->second.limit);
  }
  std::erase_if(limits, [](const auto& one) { return !one.second.any(); });
  return limits;
}

// Gives each handler its brakes. Those that are in the table already keep their seats.
void join_brakes(HandlerTable& table) {
  std::map<std::string, BrakePlan> plans;
  for (const auto& known : table.by_number) {
    for (const auto& [subject, limit] : limits_of(known->handler, table.limit_orders)) {
      plans[subject].limit = limit;
      plans[subject].handlers.push_back(known->holdings);
    }
  }
  std::erase_if(table.brakes, [&](const auto& brake) {
    const bool gone = !plans.contains(brake.first);
    if (gone) brake.second->set({}, {});  // tasks that run keep it, and must not wait for seats to renew their leases
    return gone;
  });
  for (auto& [subject, plan] : plans) {
    auto& brake = table.brakes[subject];
    if (!brake) brake = std::make_shared<Brake>();
    brake->set(plan.limit, std::move(plan.handlers));
  }
  for (auto& known : table.by_number) {
    Brakes brakes;
    for (const auto& [subject, limit] : limits_of(known->handler, table.limit_orders)) {
      brakes.push_back(table.brakes.at(subject));
    }
    if (known->brakes == brakes) continue;
    auto joined = std::make_shared<KnownHandler>(*known);
    joined->brakes = std::move(brakes);
    known = std::move(joined);
  }
}

// Whether a successful direct call needs nothing from the engine: nothing is stored before it, nothing uses its result,
// there is no callback, and no circuit counts it.
bool may_bypass(const detail::Handler& handler) {
  const Persist persist = handler.options.persist.value_or(Persist::retry_only);
  return persist != Persist::always && persist != Persist::manual && !handler.returns_answer &&
         !handler.judges_result && handler.policy.success_when.empty() && !handler.on_success && !has_circuit(handler);
}

}  // namespace

task::RetryRules revised(task::RetryRules rules, const Policy& policy) {
  rules.max_attempts = policy.stop.max_attempts.value_or(rules.max_attempts);
  rules.max_duration = policy.stop.max_duration.value_or(rules.max_duration);
  if (policy.stop.deadline) rules.deadline = policy.stop.deadline;
  if (policy.backoff) rules.backoff = policy::to_text(*policy.backoff);
  return rules;
}

void KnownHandler::measure(std::chrono::nanoseconds took, const task::Settlement& settlement) const {
  using Kind = task::Settlement::Kind;
  run_time->add(took);
  const bool ends = settlement.kind == Kind::finish || settlement.kind == Kind::advance;
  const bool failed = settlement.outcome != Outcome::succeeded && settlement.outcome != Outcome::cancelled;
  if (settlement.kind == Kind::retry || (ends && failed)) Counters::add(*failed_attempts);
}

void KnownHandler::count_first_attempt(Instant now) const {
  if (keeps_retries_apart()) circuit->retries().earn(now);
}

// Handed back tasks and callbacks say nothing about the service that the handler calls.
void KnownHandler::tell_circuit(Instant now, const task::Settlement& settlement) const {
  using Kind = task::Settlement::Kind;
  if (!circuit || settlement.kind == Kind::hand_back || settlement.stage != Stage::run) return;
  const bool failed = settlement.kind == Kind::retry || settlement.outcome == Outcome::exhausted;
  circuit->record(now, !failed);
}

void KnownHandler::set(detail::Handler changed) {
  handler = std::move(changed);
  backoff = handler.policy.backoff.value_or(Exponential{});
  rules = revised({kDefaultMaxAttempts, Millis{0}, std::nullopt, policy::to_text(backoff)}, handler.policy);
}

std::shared_ptr<const KnownHandler> HandlerTable::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : by_number[found->second];
}

std::uint32_t HandlerTable::number_of(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? kNoHandler : found->second;
}

std::vector<std::string> HandlerTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, number] : by_name) names.push_back(name);
  return names;
}

std::vector<std::string> HandlerTable::run_here() const {
  std::vector<std::string> names;
  for (const auto& known : by_number) {
    const auto& remote = known->handler.remote;
    if (remote == nullptr || remote->attended()) names.push_back(known->handler.name);
  }
  std::ranges::sort(names);
  return names;
}

std::size_t HandlerTable::concurrency(HandlerNo no, std::size_t workers) const {
  const int wanted = by_number[no]->handler.options.concurrency;
  if (wanted > 0) return std::min(static_cast<std::size_t>(wanted), workers);
  if (by_number.size() == 1) return workers;
  return std::max<std::size_t>(1, workers * 3 / 4);
}

Handlers::Handlers() : table_(std::make_shared<HandlerTable>()) {}

void Handlers::add(detail::Handler handler) {
  validate(handler);
  auto known = std::make_shared<KnownHandler>(std::move(handler));

  std::unique_lock lock{mutex_};
  const std::string& name = known->handler.name;
  if (table_->by_name.contains(name)) {
    throw std::invalid_argument("handler \"" + name + "\" is registered twice; each name stands for one function");
  }
  if (table_->by_number.size() > std::numeric_limits<HandlerNo>::max()) {
    throw std::invalid_argument("too many handlers: at most 65,536");
  }
  auto next = std::make_shared<HandlerTable>(*table_);
  next->by_name.emplace(name, static_cast<HandlerNo>(next->by_number.size()));
  next->by_number.push_back(std::move(known));
  take(std::move(next));
  const std::function<void()> added = added_;
  lock.unlock();
  if (added) added();
}

void Handlers::on_add(std::function<void()> added) {
  const std::lock_guard lock{mutex_};
  added_ = std::move(added);
}

std::shared_ptr<const HandlerTable> Handlers::snapshot() const {
  const std::lock_guard lock{mutex_};
  return table_;
}

void Handlers::change(const std::string& name, detail::Handler changes) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<HandlerTable>(*table_);
  replace(*next, name, [&](KnownHandler& known) {
    detail::Handler& handler = known.handler;
    if (changes.on_success) handler.on_success = std::move(changes.on_success);
    if (changes.check_result) handler.check_result = std::move(changes.check_result);
    if (changes.on_final_failure) handler.on_final_failure = std::move(changes.on_final_failure);
    if (changes.on_retry_scheduled) handler.on_retry_scheduled = std::move(changes.on_retry_scheduled);
  });
  take(std::move(next));
}

void Handlers::reconfigure(const std::map<std::string, HandlerSettings>& settings) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<HandlerTable>(*table_);
  for (const auto& [name, wanted] : settings) {
    replace(*next, name, [&settings = wanted](KnownHandler& known) {
      detail::Handler handler = known.handler;
      handler.policy = settings.policy;
      handler.options = settings.options;
      validate(handler);
      known.set(std::move(handler));
    });
  }
  take(std::move(next));
}

void Handlers::order_limits(const LimitOrders& orders) {
  const std::lock_guard lock{mutex_};
  if (table_->limit_orders == orders) return;
  auto next = std::make_shared<HandlerTable>(*table_);
  next->limit_orders = orders;
  take(std::move(next));
}

void Handlers::replace(HandlerTable& table, const std::string& name, const std::function<void(KnownHandler&)>& edit) {
  auto& handler = table.by_number[table.by_name.at(name)];
  auto edited = std::make_shared<KnownHandler>(*handler);
  edit(*edited);
  handler = std::move(edited);
}

void Handlers::take(std::shared_ptr<HandlerTable> table) {
  join_circuits(*table);
  join_brakes(*table);
  table_ = std::move(table);
  for (const auto& known : table_->by_number) {
    known->handler.gate->open = !gates_closed_ && may_bypass(known->handler);
  }
}

void Handlers::close_gates() {
  const std::lock_guard lock{mutex_};
  gates_closed_ = true;
  take(std::make_shared<HandlerTable>(*table_));
}

void Filters::add(Filter filter) {
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<FilterChain>(*chain_);
  next->push_back(std::move(filter));
  chain_ = std::move(next);
}

std::shared_ptr<const FilterChain> Filters::chain() const {
  const std::lock_guard lock{mutex_};
  return chain_;
}

}  // namespace easyretry::engine
