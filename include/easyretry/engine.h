#pragma once
// The engine: open a store, register functions, start.

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/config.h>
#include <easyretry/counts.h>
#include <easyretry/event.h>
#include <easyretry/filter.h>
#include <easyretry/options.h>
#include <easyretry/paused_handler.h>
#include <easyretry/policy.h>
#include <easyretry/retryable.h>
#include <easyretry/retryable_task.h>
#include <easyretry/stats.h>
#include <easyretry/task.h>
#include <easyretry/task_query.h>

namespace easyretry {

namespace detail {
class EngineImpl;
}

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

// All functions are thread-safe. They throw StoreError if the store fails, and std::invalid_argument for errors that
// the caller can correct.
class Engine {
 public:
  // "sqlite:retry.db", or "memory:" for tests.
  explicit Engine(std::string_view store_url, const EngineOptions& options = {});
  // Configured by a file and the environment: Engine engine{load_config("easyretry.yaml")}. `names` are the exception
  // types that the configuration may refer to.
  explicit Engine(const Config& config, ExceptionNames names = {});
  virtual ~Engine();  // stop()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Registers a function under a name: a function, a lambda, or any object with exactly one operator(). Its parameters
  // need a JSON conversion (EASYRETRY_JSON), and so does its result where it is used. The function may return any value
  // or an Answer, and may throw anything. Without a policy, the configuration's defaults apply.
  template <class F, std::same_as<HandlerOptions> Options = HandlerOptions>
  auto retryable(std::string name, F function, Options options = {}) {
    return add_function<OfFunction<F>>(std::move(name), std::move(function), std::nullopt, std::move(options));
  }
  template <class F>
  auto retryable(std::string name, F function, Policy policy, HandlerOptions options = {}) {
    require_visible_result<typename OfFunction<F>::Result>();
    return add_function<OfFunction<F>>(std::move(name), std::move(function), std::move(policy), std::move(options));
  }
  template <class F, std::same_as<HandlerOptions> Options = HandlerOptions>
  auto retryable(std::string name, Opaque<F> function, Options options = {}) {
    return retryable(std::move(name), std::move(function.function), std::move(options));
  }
  template <class F>
  auto retryable(std::string name, Opaque<F> function, Policy policy, HandlerOptions options = {}) {
    return add_function<OfFunction<F>>(std::move(name), std::move(function.function), std::move(policy),
                                       std::move(options));
  }

  // Registers a member function. `object` is a pointer or std::ref to an object that outlives the engine, or a
  // shared_ptr.
  template <class M, class Object, std::same_as<HandlerOptions> Options = HandlerOptions>
  requires std::is_member_function_pointer_v<M>
  auto retryable(std::string name, M method, Object object, Options options = {}) {
    auto function = bound(name, method, std::move(object));
    return add_function<Of<M>>(std::move(name), std::move(function), std::nullopt, std::move(options));
  }
  template <class M, class Object>
  requires std::is_member_function_pointer_v<M>
  auto retryable(std::string name, M method, Object object, Policy policy, HandlerOptions options = {}) {
    require_visible_result<typename Of<M>::Result>();
    auto function = bound(name, method, std::move(object));
    return add_function<Of<M>>(std::move(name), std::move(function), std::move(policy), std::move(options));
  }
  template <class M, class Object, std::same_as<HandlerOptions> Options = HandlerOptions>
  requires std::is_member_function_pointer_v<M>
  auto retryable(std::string name, Opaque<M> method, Object object, Options options = {}) {
    return retryable(std::move(name), method.function, std::move(object), std::move(options));
  }
  template <class M, class Object>
  requires std::is_member_function_pointer_v<M>
  auto retryable(std::string name, Opaque<M> method, Object object, Policy policy, HandlerOptions options = {}) {
    auto function = bound(name, method.function, std::move(object));
    return add_function<Of<M>>(std::move(name), std::move(function), std::move(policy), std::move(options));
  }

  // Registers a RetryableTask. Its overrides may be private: they are called through the base class.
  template <class T, std::same_as<HandlerOptions> Options = HandlerOptions>
  requires requires { typename T::RetryableForm; }
  auto retryable(std::string name, std::shared_ptr<T> object, Options options = {}) {
    return add_task(std::move(name), std::move(object), std::nullopt, std::move(options));
  }
  template <class T>
  requires requires { typename T::RetryableForm; }
  auto retryable(std::string name, std::shared_ptr<T> object, Policy policy, HandlerOptions options = {}) {
    return add_task(std::move(name), std::move(object), std::move(policy), std::move(options));
  }

  // Adds a filter around every attempt of every handler. Filters run in the order in which they were added.
  void add_filter(Filter filter);
  // Adds a listener for every event on this instance: the steps of tasks, and the maintenance of tables.
  void on_event(EventListener listener, Delivery delivery = Delivery::direct);

  // Applies the settings that can change while the engine runs (docs/configuration.md). Returns all changes, with those
  // that need a restart marked. If it throws ConfigError, nothing has changed.
  std::vector<ConfigChange> reload(const Config& wanted);
  // Checks the file, or a text in Nacos (nacos://user:password@host:8848/data-id), every second from now on and reloads
  // it when it has changed. Errors in it are logged, and the previous configuration stays in force.
  void follow(const std::filesystem::path& config_file);

  // Starts the threads. Handlers may be registered before or after. Tasks of unregistered handlers are not touched.
  void start();
  // Stops claiming tasks, lets running handlers finish for up to EngineOptions::drain, and hands back the rest. A
  // stopped engine cannot be started again.
  void stop();

  std::optional<TaskInfo> find(TaskId id) const;
  // In ascending order of id, one page at a time; set query.after to the last id of the previous page:
  // `engine.list({.finished = true, .outcome = Outcome::exhausted, .finished_at = {.from = yesterday}})`
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
  // Makes a task that waits for its next attempt due now. It keeps its attempts and its policy; later waits follow its
  // backoff again. Returns false if the task is running, has ended, or does not exist in the store.
  bool retry_now(TaskId id);
  // Gives a waiting task a new backoff and new stop rules; its due time does not change. Returns false as above, or if
  // another client changed the task at the same time. The handler still decides what is worth retrying and what is a
  // success: a policy with retry_on, never_retry or success_when throws std::invalid_argument, as does an invalid one.
  bool revise_policy(TaskId id, const Policy& policy);
  // Pauses a handler, which need not be registered here: no instance of this namespace runs its stored tasks. This
  // instance stops at once, the others within two seconds. New tasks are still stored; tasks keep their due times and
  // attempts; running attempts finish. Direct calls by the application and retries in memory (Persist::never) are not
  // affected. `why` is shown to operators. Stays paused until resume(), across restarts. Returns true if the handler
  // was not paused before.
  bool pause(std::string_view handler, std::string_view why = {});
  bool resume(std::string_view handler);      // true if it was paused
  std::vector<PausedHandler> paused() const;  // ordered by name, read from the store
  // Starts an ended task again with its arguments and policy, and with all its attempts available. Returns the new id,
  // and records it on the task in history. Returns nullopt if there is no such ended task, a live task has its key, or
  // it was requeued before.
  std::optional<TaskId> requeue(TaskId id);
  Stats stats() const;

 protected:
  explicit Engine(std::shared_ptr<detail::EngineImpl> impl);
  detail::EngineImpl& impl() const { return *impl_; }

 private:
  // The types of a function, or a single error message about them.
  template <class F, bool known = detail::HasOneSignature<F>>
  struct Of : detail::Signature<F> {
    static_assert(
        !detail::Signature<F>::kChangesArguments,
        "easyretry: this handler takes a non-const reference; arguments are stored as values, so take them by "
        "value or const&");
    static_assert(!std::is_reference_v<typename detail::Signature<F>::Result>,
                  "easyretry: this handler returns a reference; return a value, which may outlive the call");
  };
  template <class F>
  struct Of<F, false> {
    static_assert(detail::HasOneSignature<F>,
                  "easyretry: the types of the arguments are not known; pass a function or a lambda whose parameters "
                  "have types, without auto or overloads; pass a RetryableTask as std::make_shared<Task>()");
    using Result = void;
    using Arguments = std::tuple<>;
  };
  template <class F>
  struct OfFunction : Of<F> {
    static_assert(!std::is_member_function_pointer_v<F>,
                  "easyretry: a member function needs its object; write retryable(name, &Type::method, &object)");
  };

  template <class Result>
  static constexpr void require_visible_result() {
    static_assert(!detail::kHasValue<Result> || detail::kHasJson<Result>,
                  "easyretry: the result of this handler has no JSON conversion, so policy.success_when could not see "
                  "it; add EASYRETRY_JSON(Type, fields...) beside its type, or write retryable(name, opaque(function), "
                  "policy) if no expression reads it");
  }

  template <class M, class Object>
  static auto bound(const std::string& name, M method, Object object) {
    static_assert(std::is_pointer_v<Object> || detail::kIsShared<Object> || detail::kIsReference<Object>,
                  "easyretry: the object of a member function is not copied; give its address, std::ref or a "
                  "shared_ptr: retryable(name, &Type::method, &object)");
    detail::require_callable(object, "handler \"" + name + "\": the object of the member function");
    detail::require_callable(method, "handler \"" + name + "\": the member function");
    return [method, object = std::move(object)]<class... A>(const A&... args) ->
           typename Of<M>::Result { return std::invoke(method, object, args...); };
  }

  template <class Types, class F>
  auto add_function(std::string name, F function, std::optional<Policy> policy, HandlerOptions options,
                    SuccessWhen is_success = {}) {
    using Result = typename Types::Result;
    using Arguments = typename Types::Arguments;
    static_assert(detail::kHasJson<Arguments>,
                  "easyretry: a parameter of this handler has no JSON conversion; add EASYRETRY_JSON(Type, fields...) "
                  "beside its type, and take text as std::string");
    detail::require_callable(function, "handler \"" + name + "\": the function");
    detail::Handler handler;
    handler.name = name;
    handler.policy_given = policy.has_value();
    handler.policy = std::move(policy).value_or(Policy{});
    detail::require_fit<Result>(name, handler.policy.success_when);
    is_success = is_success.and_also(handler.policy.success_when);
    handler.judges_result = is_success.typed();
    auto callee = detail::make_callee<Result>(std::move(function), is_success, std::type_identity<Arguments>{});
    handler.options = std::move(options);
    handler.returns_answer = std::same_as<Result, Answer>;
    handler.returns_value = detail::kHasValue<Result>;
    handler.no_expression_because = detail::no_expression_because<Result>();
    handler.invoke = [callee](const std::string& payload, bool want_result) {
      return callee->invoke(payload, want_result);
    };
    auto gate = handler.gate;
    add(std::move(handler));
    return Retryable<Result, Arguments>{host(), std::move(name), std::move(callee), std::move(gate)};
  }

  template <class T>
  auto add_task(std::string name, std::shared_ptr<T> object, std::optional<Policy> policy, HandlerOptions options) {
    using Result = typename T::Result;
    static_assert(!detail::kHasValue<Result> || detail::kHasJson<Result>,
                  "easyretry: on_success of this RetryableTask is given its result, which has no JSON conversion; add "
                  "EASYRETRY_JSON(Type, fields...) beside its type");
    detail::require_callable(object, "handler \"" + name + "\": the task");
    const std::shared_ptr<typename T::RetryableForm> task = std::move(object);
    SuccessWhen is_success;
    if constexpr (detail::kHasValue<Result>) is_success = [task](const Result& r) { return task->is_success(r); };
    auto handle = add_function<typename T::RetryableForm>(
        std::move(name), [task]<class... A>(const A&... args) -> Result { return task->execute(args...); },
        std::move(policy), std::move(options), std::move(is_success));
    if constexpr (std::is_void_v<Result>) {
      handle.on_success([task](const TaskInfo& info) { task->on_success(info); });
    } else if constexpr (std::same_as<Result, Answer>) {
      handle.on_success([task](const TaskInfo& info) { task->on_success(done(), info); });
    } else if constexpr (detail::kHasJson<Result>) {
      handle.on_success([task](const Result& result, const TaskInfo& info) { task->on_success(result, info); });
    }
    handle.on_final_failure(
        [task](const Failure& failure, const TaskInfo& info) { task->on_final_failure(failure, info); });
    return handle;
  }

  void add(detail::Handler handler);
  std::weak_ptr<detail::HandlerHost> host() const;

  std::shared_ptr<detail::EngineImpl> impl_;
};

}  // namespace easyretry
