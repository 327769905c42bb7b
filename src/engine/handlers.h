#pragma once
// The registries of handlers and filters. Names from storage are looked up here and nowhere else. Thread-safe.
//
// Readers take a snapshot, an immutable table, and keep it for a batch; registering makes a new one. Numbers stay
// valid for the life of the registry.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <easyretry/detail/erased_handler.h>
#include <easyretry/filter.h>

#include "engine/brake.h"
#include "engine/circuit.h"
#include "engine/measures.h"
#include "engine/orders.h"
#include "policy/success_expression.h"
#include "task/record.h"

namespace easyretry::engine {

using HandlerNo = std::uint16_t;
inline constexpr std::uint32_t kNoHandler = 0xFFFF'FFFF;  // in a DueTask: its handler is not registered here

// `rules`, with the backoff and the limits that the policy sets.
task::RetryRules revised(task::RetryRules rules, const Policy& policy);

// A handler, with values that are computed once.
struct KnownHandler {
  explicit KnownHandler(detail::Handler registered) { set(std::move(registered)); }
  void set(detail::Handler changed);

  detail::Handler handler;
  // The rules of handler.policy, with the library's values for fields that it leaves open. New tasks carry these rules.
  Backoff backoff;
  task::RetryRules rules;
  std::shared_ptr<Circuit> circuit{};                                 // null: it has none
  Brakes brakes{};                                                    // its own, and that of its circuit
  std::shared_ptr<Holdings> holdings = std::make_shared<Holdings>();  // shared with later versions
  // Measured on this instance; shared with later versions of these settings.
  std::shared_ptr<Histogram> run_time = std::make_shared<Histogram>(bounds::kRunTime);
  std::shared_ptr<Histogram> lateness = std::make_shared<Histogram>(bounds::kLateness);
  std::shared_ptr<Counters::Count> failed_attempts = std::make_shared<Counters::Count>(0);

  // Whether its retries wait apart from other tasks, because its circuit has a budget for them.
  bool keeps_retries_apart() const { return circuit && circuit->retries().is_set(); }
  // An attempt begins that is no retry, so that a budget allows more of them.
  void count_first_attempt(Instant now) const;
  // The worker that made the attempt has judged it.
  void tell_circuit(Instant now, const task::Settlement& settlement) const;
  // An attempt has ended.
  void measure(std::chrono::nanoseconds took, const task::Settlement& settlement) const;
};

// The part of a handler that a configuration may change.
struct HandlerSettings {
  Policy policy;
  HandlerOptions options;
};

struct HandlerTable {
  std::vector<std::shared_ptr<const KnownHandler>> by_number;
  std::unordered_map<std::string, HandlerNo> by_name;
  std::map<std::string, std::shared_ptr<Circuit>> circuits;
  std::map<std::string, std::shared_ptr<Brake>> brakes;  // by subject: "handler pay", "circuit gateway"
  LimitOrders limit_orders;                              // including subjects that are unknown here

  std::shared_ptr<const KnownHandler> find(const std::string& name) const;
  // For DueTask::handler; kNoHandler: there is no handler with this name.
  std::uint32_t number_of(const std::string& name) const;
  std::vector<std::string> names() const;
  // Names of the handlers that can run here, ascending. A remote handler counts only while workers attend to it.
  std::vector<std::string> run_here() const;
  // How many executions of handler `no` may run at a time on a pool of this many workers.
  std::size_t concurrency(HandlerNo no, std::size_t workers) const;
};

class Handlers {
 public:
  Handlers();

  // Throws std::invalid_argument if the name is taken or invalid, or the policy is.
  void add(detail::Handler handler);
  // Replaces the handler's callbacks by those that are set in `changes`.
  void change(const std::string& name, detail::Handler changes);
  // Changes all of them, or none: throws std::invalid_argument if one is invalid.
  void reconfigure(const std::map<std::string, HandlerSettings>& settings);
  // Takes all limits that are in force.
  void order_limits(const LimitOrders& orders);
  // From now on no direct call may bypass the engine.
  void close_gates();

  std::shared_ptr<const HandlerTable> snapshot() const;
  // `added` is called after each add(), on the thread that adds.
  void on_add(std::function<void()> added);

 private:
  static void replace(HandlerTable& table, const std::string& name, const std::function<void(KnownHandler&)>& edit);
  void take(std::shared_ptr<HandlerTable> table);  // under mutex_

  mutable std::mutex mutex_;
  std::shared_ptr<const HandlerTable> table_;  // guarded by mutex_; the table itself never changes
  bool gates_closed_ = false;                  // guarded by mutex_
  std::function<void()> added_;                // guarded by mutex_
};

using FilterChain = std::vector<Filter>;

// Readers take the chain as it is and keep it for one execution. Thread-safe.
class Filters {
 public:
  void add(Filter filter);
  std::shared_ptr<const FilterChain> chain() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const FilterChain> chain_ = std::make_shared<FilterChain>();  // guarded by mutex_; never modified
};

}  // namespace easyretry::engine
