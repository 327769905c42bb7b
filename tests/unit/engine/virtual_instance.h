#pragma once
// An instance of the engine that is stepped manually; several may share one store. Destroying it is its crash.

#include <easyretry/testing.h>

#include "engine/core.h"
#include "engine/inline_workers.h"
#include "storage/memory/memory_store.h"

namespace easyretry::engine {

struct SharedStore {
  testing::ManualClock clock;
  std::shared_ptr<storage::Store> store = std::make_shared<storage::MemoryStore>(storage::MemoryStoreOptions{}, clock);
};

class VirtualInstance {
 public:
  explicit VirtualInstance(SharedStore& shared, EngineOptions options = {})
      : VirtualInstance(shared.store, shared.clock, std::move(options)) {}
  VirtualInstance(std::shared_ptr<storage::Store> store, const Clock& clock, EngineOptions options = {})
      : core(std::move(store), clock, {quiet(std::move(options)), "", 1},
             [](const auto& context, const auto& outcomes) {
               return std::make_unique<InlineWorkers>(*context, *outcomes);
             }) {}

  void handle(std::string name, std::function<void()> run, Policy policy = {}, HandlerOptions options = {}) {
    detail::Handler handler = known_as(std::move(name), std::move(policy), std::move(options));
    handler.invoke = [run = std::move(run)](const std::string&, bool) {
      run();
      return detail::Reply{};
    };
    core.context().handlers.add(std::move(handler));
  }

  void handle_remotely(std::string name, std::shared_ptr<RemoteExecutor> remote, Policy policy = {},
                       HandlerOptions options = {}) {
    detail::Handler handler = known_as(std::move(name), std::move(policy), std::move(options));
    handler.remote = std::move(remote);
    core.context().handlers.add(std::move(handler));
  }

  TaskId submit(const std::string& handler, const std::string& key, int max_attempts = 0) {
    task::NewTask task;
    task.name_space = "default";
    task.handler = handler;
    task.key = key;
    task.payload = "[]";
    task.rules.max_attempts = max_attempts;
    return core.submit({&task, 1}).value().front().id;
  }

  task::TaskRecord look(TaskId id) { return core.find(id).value().value(); }

  // Up to the claim, but not into the handlers.
  void claim() {
    core.loader().hurry();
    core.loader().step();
    core.pause_watch().step();
    core.claimers()[0].step();
  }
  void run_handlers() { static_cast<InlineWorkers&>(core.workers()).step(); }
  void settle() { core.settler().step(); }
  void all() {
    claim();
    run_handlers();
    settle();
  }

  Core core;

 private:
  static detail::Handler known_as(std::string name, Policy policy, HandlerOptions options) {
    detail::Handler handler;
    handler.name = std::move(name);
    handler.policy = std::move(policy);
    handler.options = std::move(options);
    return handler;
  }
  static EngineOptions quiet(EngineOptions options) {
    options.log = nullptr;
    return options;
  }
};

}  // namespace easyretry::engine
