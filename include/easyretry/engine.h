#pragma once
// The engine as an application sees it: open a store, register functions, start.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/options.h>
#include <easyretry/policy.h>
#include <easyretry/retryable.h>
#include <easyretry/stats.h>
#include <easyretry/task.h>

namespace easyretry {

namespace detail {
class EngineImpl;
}

// All functions are safe to call from any thread. What is not possible throws: StoreError for the store,
// std::invalid_argument for what the caller can correct.
class Engine {
 public:
  // "sqlite:retry.db", or "memory:" for tests.
  explicit Engine(std::string_view store_url, const EngineOptions& options = {});
  virtual ~Engine();  // stop()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Gives a function a name under which it is called now and later. Its parameters and, where they are used, its
  // result need a JSON conversion (EASYRETRY_JSON). It may return anything, or an Answer, and may throw anything.
  template <class F>
  auto retryable(std::string name, F function, Policy policy = {}, HandlerOptions options = {}) {
    using Function = std::decay_t<F>;
    using Result = typename detail::Signature<Function>::Result;
    using Arguments = typename detail::Signature<Function>::Arguments;
    static_assert(detail::kHasJson<Arguments>,
                  "easyretry: a parameter of this handler has no JSON conversion; add EASYRETRY_JSON(Type, fields...) "
                  "beside its type");
    detail::Handler handler;
    handler.name = name;
    handler.policy = std::move(policy);
    handler.options = options;
    handler.result_is_json = std::is_void_v<Result> || detail::kHasJson<Result>;
    handler.invoke = [function = Function{std::move(function)}](const std::string& payload, bool want_result) mutable {
      return detail::call_with<Arguments, Result>(function, payload, want_result);
    };
    add(std::move(handler));
    return Retryable<Result, Arguments>{host(), std::move(name)};
  }

  // Starts the threads. Handlers may be registered before and after; tasks of names not registered are left alone.
  void start();
  // Stops claiming, lets handlers finish for EngineOptions::drain, hands back the rest. The engine stays stopped.
  void stop();

  std::optional<TaskInfo> find(TaskId id) const;
  // True: the task will not be run (again). A handler that is running it right now sees its stop token set, and what it
  // returns changes nothing. on_final_failure is called with Outcome::cancelled.
  bool cancel(TaskId id);
  Stats stats() const;

 protected:
  explicit Engine(std::shared_ptr<detail::EngineImpl> impl);
  detail::EngineImpl& impl() const { return *impl_; }

 private:
  void add(detail::Handler handler);
  std::weak_ptr<detail::HandlerHost> host() const;

  std::shared_ptr<detail::EngineImpl> impl_;
};

}  // namespace easyretry
