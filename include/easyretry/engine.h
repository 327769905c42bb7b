#pragma once
// The engine: open a store, register functions, start.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <easyretry/cluster.h>
#include <easyretry/detail/registration.h>
#include <easyretry/event.h>
#include <easyretry/filter.h>
#include <easyretry/json.h>
#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/retryable.h>
#include <easyretry/stats.h>
#include <easyretry/task.h>

#pragma GCC visibility push(default)
namespace easyretry {

namespace detail {
class EngineImpl;
}

// Defined in <easyretry/config.h>
struct Config;
struct ConfigChange;
class ExceptionNames;

// Marks a function whose result no success_when expression reads, so that it needs no JSON conversion:
// opaque(function).
template <class F>
struct Opaque {
  F function;
};
template <class F>
Opaque<F> opaque(F function) {
  return {std::move(function)};
}

// A circuit of handlers that are registered here, for code that makes calls of its own: engine.circuit("gateway").
// Thread-safe; every member throws std::logic_error after the engine is gone.
class CircuitHandle {
 public:
  const std::string& name() const { return name_; }
  CircuitInfo info() const;
  // Whether calls should be avoided, because they mostly fail or an operator holds the circuit open. Answers at once
  // from what this instance knows. After a quiet time this may be out of date; it is refreshed in the background.
  bool open() const;
  // Records that a call made outside a handler was answered, or failed. Calls of handlers, direct ones as well, are
  // counted already.
  void record(bool answered);

  // Orders to all instances, kept across restarts: this instance obeys at once, the others within two seconds. The last
  // one counts. `why` is shown to operators. A time that is out of bounds is refused: StoreError with
  // Errc::invalid_argument.
  //
  // Nothing starts, not even probes, for this long (a year at most), or until reset(). Then it recovers in steps.
  void force_open(std::string_view why = {}, std::optional<Millis> time = {});
  void ignore(Millis time, std::string_view why = {});  // nothing is held back for this long; 24 h at most
  bool reset();                                         // true if there was an order

 private:
  friend class Engine;
  CircuitHandle(std::weak_ptr<detail::EngineImpl> impl, std::string name)
      : impl_(std::move(impl)), name_(std::move(name)) {}

  std::weak_ptr<detail::EngineImpl> impl_;
  std::string name_;
};

// The result of Engine::wait().
struct Waited {
  WaitEnd end = WaitEnd::unknown;
  std::optional<TaskInfo> task{};       // as it was last seen
  std::optional<std::string> result{};  // of the handler, as JSON; only if it is kept (HandlerOptions::keep_results)
  std::size_t left_out = 0;             // the bytes of a result that was too long to be kept

  bool succeeded() const { return end == WaitEnd::ended && task->outcome == Outcome::succeeded; }
  // The result as a value: result_as<Receipt>(). Throws std::logic_error that says why there is none, and JsonError if
  // it is of another type.
  template <class Value>
  Value result_as() const {
    static_assert(detail::kHasJson<Value>,
                  "easyretry: this result has no JSON conversion; add EASYRETRY_JSON(Type, fields...) beside its type");
    return from_json<Value>(needed_result());
  }

 private:
  const std::string& needed_result() const;
};

// All functions are thread-safe. They throw StoreError if the store fails, and std::invalid_argument for errors that
// the caller can correct.
class Engine {
 public:
  // "sqlite:retry.db", or "memory:" for tests.
  explicit Engine(std::string_view store_url, const EngineOptions& options = {});
  // Configured by a file and the environment: Engine engine{load_config("easyretry.yaml")}. `names` are the exception
  // types that the configuration may refer to. Both come with <easyretry/config.h>. Sends the alerts of the
  // configuration (docs/alerts.md); throws std::invalid_argument if one of their channels cannot work.
  explicit Engine(const Config& config);
  Engine(const Config& config, ExceptionNames names);
  virtual ~Engine();  // stop()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Registers a handler under a name, with a policy, options, both in this order, or neither. The
  // configuration's defaults apply to all that the policy leaves open. The handler is one of these:
  //
  //   a function, a lambda, or any object with exactly one operator()
  //   opaque(function), if no success_when expression reads its result
  //   std::make_shared<Task>(), where Task is a RetryableTask
  //
  // Its parameters need a JSON conversion (EASYRETRY_JSON), and so does its result where it is used. It may return any
  // value or an Answer, and may throw anything. Misplaced is there for the error message.
  template <class F, std::same_as<HandlerOptions> Options = HandlerOptions, std::same_as<Policy>... Misplaced>
  auto retryable(std::string name, F handler, const Options& options = {}, const Misplaced&...) {
    detail::require_policy_first<sizeof...(Misplaced)>();
    return add(detail::registration<false>(std::move(name), std::move(handler), Policy{}, options));
  }
  template <class F>
  auto retryable(std::string name, F handler, const Policy& policy, const HandlerOptions& options = {}) {
    return add(detail::registration<true>(std::move(name), std::move(handler), policy, options));
  }

  // The same for a member function, or opaque(&Type::method). `object` is a pointer or std::ref to an object that
  // outlives the engine, or a shared_ptr.
  template <detail::IsMethod M, detail::IsObject Object, std::same_as<HandlerOptions> Options = HandlerOptions,
            std::same_as<Policy>... Misplaced>
  auto retryable(std::string name, M method, Object object, const Options& options = {}, const Misplaced&...) {
    detail::require_policy_first<sizeof...(Misplaced)>();
    return add(detail::method_registration<false>(std::move(name), method, std::move(object), Policy{}, options));
  }
  template <detail::IsMethod M, detail::IsObject Object>
  auto retryable(std::string name, M method, Object object, const Policy& policy, const HandlerOptions& options = {}) {
    return add(detail::method_registration<true>(std::move(name), method, std::move(object), policy, options));
  }

  // Adds a filter around every attempt of every handler. Filters run in the order in which they were added.
  void add_filter(Filter filter);
  // Adds a listener for every event on this instance: the steps of tasks, and the maintenance of tables.
  void on_event(EventListener listener, Delivery delivery = Delivery::direct);
  // Adds a listener for the spans of this instance's tasks, for an application that has an OpenTelemetry SDK of its own
  // (docs/tracing.md). From then on handlers find the traceparent of their attempt in info.traceparent.
  void on_span(SpanListener listener);

  // Applies the settings that can change while the engine runs (docs/configuration.md). Returns all changes, with those
  // that need a restart marked. If it throws ConfigError, nothing has changed.
  std::vector<ConfigChange> reload(const Config& wanted);
  // Checks the file, or a text in Nacos (nacos://user:password@host:8848/data-id), every second from now on and reloads
  // it when it has changed. Errors in it are logged, and the previous configuration stays in force.
  void follow(const std::string& config_file);

  // Starts the threads. Handlers may be registered before or after. Tasks of unregistered handlers are not touched.
  void start();
  // Stops claiming tasks, lets running handlers finish for up to EngineOptions::drain, and hands back the rest. A
  // stopped engine cannot be started again.
  void stop();

  std::optional<TaskInfo> find(TaskId id) const;
  // The live task with this key or, if there is none, the one in history that was stored last.
  std::optional<TaskInfo> find(std::string_view handler, std::string_view key) const;
  // Blocks until the task has ended and its callback, if it has one, has run; or until the time is over. A timeout of 0
  // only looks. Returns at once if there is no such task, and when this engine stops. An end that this engine writes is
  // seen at once, any other within a second. The engine need not be started. Up to 10,000 calls may wait: one more
  // throws StoreError. Throws std::logic_error inside a handler, whose worker would be held up.
  Waited wait(TaskId id, Millis timeout);
  // One page at a time, oldest first unless query.order says otherwise; set query.after to the last id of the previous
  // page: `engine.list({.finished = true, .outcome = Outcome::exhausted, .order = ListOrder::newest_first})`
  std::vector<TaskInfo> list(const TaskQuery& query) const;
  std::int64_t count(const TaskQuery& query) const;  // on all pages
  // The instances that share the shards of this namespace, as this instance sees them.
  ClusterView cluster() const;
  // The tasks that all instances of this namespace have stored and ended, by handler. Fast with any number of tasks.
  Counts counts() const;
  // Returns true if the task will not run (again). If a handler is running it right now, its stop token is set, and its
  // result is ignored. If another instance may have claimed the task, this waits up to half a second for its workers to
  // notice. An instance that has the handler calls on_final_failure with Outcome::cancelled.
  bool cancel(TaskId id);
  bool cancel(std::string_view handler, std::string_view key);  // the live task with this key
  // Ends a task as succeeded, for work that was done by other means. As cancel(), but on_success is called; an
  // on_success that takes the handler's result gets `result`. Returns false as cancel() does, or if the callback of the
  // task is due: its outcome is decided. Throws std::invalid_argument if on_success is registered here and cannot take
  // the result, or needs one.
  bool complete(TaskId id) { return complete_with(id, {}); }
  template <class Value>
  bool complete(TaskId id, const Value& result) {
    static_assert(detail::kHasJson<Value>,
                  "easyretry: this result has no JSON conversion; add EASYRETRY_JSON(Type, fields...) beside its type");
    return complete_with(id, to_json(result));
  }
  // Ends a task as a final failure: on_final_failure is called with Outcome::rejected and this reason, which is stored
  // as the last error, with the handler's last error after it. Otherwise as complete(). `why` must not be empty.
  bool fail(TaskId id, std::string_view why);
  // Makes a task that waits for its next attempt due now. It keeps its attempts and its policy; later waits follow its
  // backoff again. Returns false if the task is running, has ended, or does not exist in the store.
  bool retry_now(TaskId id);
  bool retry_now(std::string_view handler, std::string_view key);
  // Gives a waiting task a new backoff and new stop rules, as far as the policy sets them. Its due time does not
  // change. Returns false as above, or if another client changed the task at the same time. The handler still decides
  // what is worth retrying and what is a success: a policy with retry_on, never_retry or success_when throws
  // std::invalid_argument, as does an invalid one.
  bool revise_policy(TaskId id, const Policy& policy);
  // Pauses a handler, which need not be registered here: no instance of this namespace runs its stored tasks. This
  // instance stops at once, the others within two seconds. New tasks are still stored; tasks keep their due times and
  // attempts; running attempts finish. Direct calls by the application and retries in memory (Persist::never) are not
  // affected. `why` is shown to operators. Stays paused until resume(), across restarts. Returns true if the handler
  // was not paused before.
  bool pause(std::string_view handler, std::string_view why = {});
  bool resume(std::string_view handler);      // true if it was paused
  std::vector<PausedHandler> paused() const;  // ordered by name, read from the store
  // The circuits of the handlers registered here, by name, as this instance sees them (HandlerOptions::circuit).
  std::vector<CircuitInfo> circuits() const;
  // One of them. Throws std::invalid_argument if there is no circuit with this name.
  CircuitHandle circuit(std::string_view name) const;
  // The limits of these handlers and of their circuits (HandlerOptions::limit, CircuitOptions::limit).
  std::vector<LimitInfo> limits() const;
  // Limits "handler payment.pay" or "circuit gateway", which need not be known here, for all instances: this one at
  // once, the others within two seconds, across restarts, until reset_limit(). The last one set counts. Where the
  // configuration has a limit, too, the smaller one counts. `why` is shown to operators. An invalid one is refused:
  // StoreError with Errc::invalid_argument.
  void set_limit(std::string_view subject, const LimitOptions& limit, std::string_view why = {});
  bool reset_limit(std::string_view subject);  // true if one was set; a configured limit stays
  // Starts an ended task again with its arguments and policy, and with all its attempts available. Returns the new id,
  // and records it on the task in history. Returns nullopt if there is no such ended task, a live task has its key, or
  // it was requeued before.
  std::optional<TaskId> requeue(TaskId id);
  // The task with this key that find() returns, if it has ended.
  std::optional<TaskId> requeue(std::string_view handler, std::string_view key);
  // The same with other arguments: engine.requeue_with(id, corrected_order). The key and the policy stay. The arguments
  // must be of the types that the handler takes: a task whose arguments do not fit is parked. This also works for a
  // task whose arguments were removed.
  template <class... Arguments>
  std::optional<TaskId> requeue_with(TaskId id, const Arguments&... arguments) {
    static_assert((detail::kHasJson<Arguments> && ...),
                  "easyretry: an argument has no JSON conversion; add EASYRETRY_JSON(Type, fields...) beside its type");
    JsonWriter payload;
    detail::write_each(payload, arguments...);
    return requeue_with_json(id, payload.take());
  }
  Stats stats() const;

 protected:
  explicit Engine(std::shared_ptr<detail::EngineImpl> impl);
  detail::EngineImpl& impl() const { return *impl_; }

 private:
  template <class R, class Arguments>
  Retryable<R, Arguments> add(detail::Registration<R, Arguments> registration) {
    std::string name = registration.handler.name;
    auto gate = registration.handler.gate;
    add(std::move(registration.handler));
    return {host(), std::move(name), std::move(registration.callee), std::move(gate)};
  }
  bool complete_with(TaskId id, std::string result);
  std::optional<TaskId> requeue_with_json(TaskId id, std::string arguments);
  void add(detail::Handler handler);
  std::weak_ptr<detail::HandlerHost> host() const;

  std::shared_ptr<detail::EngineImpl> impl_;
};

}  // namespace easyretry
#pragma GCC visibility pop
