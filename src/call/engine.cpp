#include <algorithm>
#include <stdexcept>

#include <easyretry/engine.h>
#include <easyretry/handler.h>

#include "base/part.h"
#include "call/engine_impl.h"
#include "call/errors.h"
#include "call/senders.h"
#include "call/threaded_engine.h"
#include "policy/limits.h"
#include "storage/open.h"

namespace easyretry {
namespace {

// Throws std::invalid_argument for an invalid policy, and for rules that only a handler can have.
void require_rules_of_a_task(const Policy& policy) {
  validate(policy);
  if (policy.retry_on.empty() && policy.never_retry.empty() && policy.success_when.empty()) return;
  throw std::invalid_argument(
      "a task has its own backoff and stop rules, but retry_on, never_retry and success_when belong to its handler; "
      "leave them out");
}

bool sends_alerts(const Config& config) {
  return !config.alerts.channels.empty();
}

bool sends_traces() {
  return call::easyretry_tracing != nullptr && call::easyretry_tracing()->wanted();
}

// Also sends the alerts of its configuration, and traces. A daemon sends those of all its namespaces itself
// (server/daemon.cpp).
class SendingEngine final : public call::ThreadedEngine {
 public:
  SendingEngine(std::shared_ptr<storage::Store> store, const Config& config, ExceptionNames names)
      : ThreadedEngine(std::move(store), config, std::move(names)) {
    if (sends_alerts(config)) alert_sender_ = call::easyretry_alerts()->open(config, core_);
    if (sends_traces()) trace_sender_ = call::easyretry_tracing()->open(config, core_);
  }
  ~SendingEngine() override { SendingEngine::stop(); }

  void stop() override {
    ThreadedEngine::stop();
    const std::lock_guard lock{senders_mutex_};
    if (alert_sender_) alert_sender_->stop();
    if (trace_sender_) trace_sender_->stop();
  }

 private:
  std::mutex senders_mutex_;
  // Stopped under senders_mutex_; null: nothing is sent.
  std::unique_ptr<call::AlertSender> alert_sender_;
  std::unique_ptr<call::TraceSender> trace_sender_;
};

std::shared_ptr<detail::EngineImpl> engine_of(const Config& config, ExceptionNames names) {
  validate(config.engine);
  if (sends_alerts(config) && call::easyretry_alerts == nullptr) {
    throw std::invalid_argument("alerts.channels: " + base::missing_part("alerts", "alerts"));
  }
  const bool sends = sends_alerts(config) || sends_traces();
  auto store = storage::open_store(config.store_url(), system_clock());
  if (!sends) return call::threaded_engine(std::move(store), config, std::move(names));
  return std::make_shared<SendingEngine>(std::move(store), config, std::move(names));
}

}  // namespace

const std::string& Waited::needed_result() const {
  if (result) return *result;
  if (left_out > 0) {
    throw std::logic_error("the result of the task was not kept: it has " + std::to_string(left_out) +
                           " bytes, more than max_payload");
  }
  if (end != WaitEnd::ended)
    throw std::logic_error("there is no result: the wait ended as " + std::string{to_string(end)});
  if (task->outcome != Outcome::succeeded) {
    throw std::logic_error("there is no result: the task ended as " + std::string{to_string(*task->outcome)});
  }
  throw std::logic_error("the result of the task was not kept; set keep_results of its handler");
}

Engine::Engine(std::string_view store_url, const EngineOptions& options)
    : Engine(Config{.store = std::string{store_url}, .engine = options}) {}

Engine::Engine(const Config& config) : Engine(config, ExceptionNames{}) {}

Engine::Engine(const Config& config, ExceptionNames names) : Engine(engine_of(config, std::move(names))) {}

Engine::Engine(std::shared_ptr<detail::EngineImpl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->stop();
}

std::vector<ConfigChange> Engine::reload(const Config& wanted) {
  return impl_->reload(wanted);
}

void Engine::follow(const std::string& config_file) {
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

std::optional<TaskInfo> Engine::find(std::string_view handler, std::string_view key) const {
  auto record = call::value_or_throw(impl_->core().find_live(handler, key));
  if (!record) record = call::value_or_throw(impl_->core().find_ended(handler, key));
  if (!record) return std::nullopt;
  return std::move(record->info);
}

Waited Engine::wait(TaskId id, Millis timeout) {
  if (timeout < Millis{0}) throw std::invalid_argument("wait: the timeout is negative; 0 only looks");
  if (current_task() != nullptr) {
    throw std::logic_error(
        "wait: a handler that waits for a task holds up its worker; submit a task that goes on, or "
        "use on_success");
  }
  return impl_->wait_for_end(id, std::min(timeout, policy::kLongestDelay));
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

bool Engine::cancel(std::string_view handler, std::string_view key) {
  const auto live = call::value_or_throw(impl_->core().find_live(handler, key));
  return live && cancel(live->info.id);
}

bool Engine::complete_with(TaskId id, std::string result) {
  return call::value_or_throw(
      impl_->core().end(id, {.outcome = Outcome::succeeded, .tell = true, .result = std::move(result)}));
}

bool Engine::fail(TaskId id, std::string_view why) {
  if (why.empty()) throw std::invalid_argument("fail: say why the task failed; operators and on_final_failure read it");
  return call::value_or_throw(
      impl_->core().end(id, {.outcome = Outcome::rejected, .tell = true, .error = std::string{why}}));
}

bool Engine::retry_now(TaskId id) {
  return call::value_or_throw(impl_->core().retry_now(id));
}

bool Engine::retry_now(std::string_view handler, std::string_view key) {
  const auto live = call::value_or_throw(impl_->core().find_live(handler, key));
  return live && retry_now(live->info.id);
}

bool Engine::revise_policy(TaskId id, const Policy& policy) {
  require_rules_of_a_task(policy);
  return call::value_or_throw(
      impl_->core().revise_rules(id, [&](const task::RetryRules& rules) { return engine::revised(rules, policy); }));
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

std::vector<CircuitInfo> Engine::circuits() const {
  return impl_->core().circuits();
}

std::vector<LimitInfo> Engine::limits() const {
  return impl_->core().limits();
}

void Engine::set_limit(std::string_view subject, const LimitOptions& limit, std::string_view why) {
  call::value_or_throw(impl_->core().order_limit(subject, limit, why));
}

bool Engine::reset_limit(std::string_view subject) {
  return call::value_or_throw(impl_->core().reset_limit(subject));
}

std::optional<TaskId> Engine::requeue(TaskId id) {
  return call::value_or_throw(impl_->core().requeue(id));
}

std::optional<TaskId> Engine::requeue(std::string_view handler, std::string_view key) {
  const auto ended = call::value_or_throw(impl_->core().find_ended(handler, key));
  if (!ended) return std::nullopt;
  return requeue(ended->info.id);  // refused if the key is live
}

std::optional<TaskId> Engine::requeue_with_json(TaskId id, std::string arguments) {
  return call::value_or_throw(impl_->core().requeue_with(id, std::move(arguments)));
}

void Engine::add_filter(Filter filter) {
  impl_->add_filter(std::move(filter));
}

void Engine::on_event(EventListener listener, Delivery delivery) {
  if (!listener) throw std::invalid_argument("a listener must be callable");
  impl_->core().events().add(std::move(listener), delivery);
}

void Engine::on_span(SpanListener listener) {
  if (!listener) throw std::invalid_argument("a listener must be callable");
  impl_->core().spans().add(std::move(listener));
}

Stats Engine::stats() const {
  return impl_->core().stats();
}

}  // namespace easyretry
