#include <stdexcept>

#include <easyretry/engine.h>

#include "call/engine_impl.h"
#include "call/errors.h"
#include "call/threaded_engine.h"
#include "policy/decide.h"
#include "storage/open.h"

namespace easyretry {
namespace {

// The part of a policy that a task carries. Throws std::invalid_argument for an invalid one, and for rules that only a
// handler can have.
task::RetryRules rules_of(const Policy& policy) {
  validate(policy);
  if (!policy.retry_on.empty() || !policy.never_retry.empty() || !policy.success_when.empty()) {
    throw std::invalid_argument(
        "a task has its own backoff and stop rules, but retry_on, never_retry and success_when belong to its handler; "
        "leave them out");
  }
  return {policy.stop.max_attempts, policy.stop.max_duration, policy.stop.deadline, policy::to_text(policy.backoff)};
}

}  // namespace

Engine::Engine(std::string_view store_url, const EngineOptions& options)
    : Engine(Config{.store = std::string{store_url}, .engine = options}) {}

Engine::Engine(const Config& config, ExceptionNames names)
    : Engine((validate(config.engine), call::threaded_engine(storage::open_store(config.store_url(), system_clock()),
                                                             config, std::move(names)))) {}

Engine::Engine(std::shared_ptr<detail::EngineImpl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->stop();
}

std::vector<ConfigChange> Engine::reload(const Config& wanted) {
  return impl_->reload(wanted);
}

void Engine::follow(const std::filesystem::path& config_file) {
  impl_->follow(config_file);
}

void Engine::start() {
  impl_->start();
}

void Engine::stop() {
  impl_->stop();
}

void Engine::add(detail::Handler handler) {
  impl_->add(std::move(handler));
}

std::weak_ptr<detail::HandlerHost> Engine::host() const {
  return impl_;
}

std::optional<TaskInfo> Engine::find(TaskId id) const {
  auto record = call::value_or_throw(impl_->core().find(id));
  if (!record) return std::nullopt;
  return std::move(record->info);
}

std::vector<TaskInfo> Engine::list(const TaskQuery& query) const {
  std::vector<TaskInfo> found;
  for (auto& record : call::value_or_throw(impl_->core().list(query))) found.push_back(std::move(record.info));
  return found;
}

std::int64_t Engine::count(const TaskQuery& query) const {
  return call::value_or_throw(impl_->core().count(query));
}

ClusterView Engine::cluster() const {
  return impl_->core().cluster();
}

Counts Engine::counts() const {
  return call::value_or_throw(impl_->core().counts());
}

bool Engine::cancel(TaskId id) {
  return call::value_or_throw(impl_->core().cancel(id));
}

bool Engine::retry_now(TaskId id) {
  return call::value_or_throw(impl_->core().retry_now(id));
}

bool Engine::revise_policy(TaskId id, const Policy& policy) {
  task::RetryRules rules = rules_of(policy);
  return call::value_or_throw(impl_->core().revise_rules(id, [&](const task::RetryRules&) { return rules; }));
}

bool Engine::pause(std::string_view handler, std::string_view why) {
  return call::value_or_throw(impl_->core().pause(handler, why));
}

bool Engine::resume(std::string_view handler) {
  return call::value_or_throw(impl_->core().resume(handler));
}

std::vector<PausedHandler> Engine::paused() const {
  return call::value_or_throw(impl_->core().paused()).handlers;
}

std::optional<TaskId> Engine::requeue(TaskId id) {
  return call::value_or_throw(impl_->core().requeue(id));
}

void Engine::add_filter(Filter filter) {
  impl_->add_filter(std::move(filter));
}

void Engine::on_event(EventListener listener, Delivery delivery) {
  if (!listener) throw std::invalid_argument("a listener must be callable");
  impl_->core().events().add(std::move(listener), delivery);
}

Stats Engine::stats() const {
  return impl_->core().stats();
}

}  // namespace easyretry
