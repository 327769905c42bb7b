#include "call/engine_impl.h"

#include <algorithm>
#include <future>

#include "call/errors.h"
#include "call/new_tasks.h"
#include "policy/decide.h"

namespace easyretry::detail {

using call::value_or_throw;

namespace {

EngineOptions with_keys(const Config& config) {
  EngineOptions options = config.engine;
  if (config.encryption == KeyFolder{}) return options;
  if (options.encryption.enabled()) {
    throw std::invalid_argument("encryption: keys are given both in code and in the configuration; remove one of them");
  }
  options.encryption = read_keys(config.encryption);
  return options;
}

}  // namespace

EngineImpl::EngineImpl(std::shared_ptr<storage::Store> store, const Clock& clock, Config config, ExceptionNames names,
                       const engine::MakeWorkers& workers)
    : core_(std::move(store), clock, {with_keys(config), "", 0}, workers),
      configuration_(std::move(config), std::move(names)),
      direct_calls_(
          core_, [this](Millis delay) { return wait(delay); }, [this] { keep_leases(); }) {
  core_.convert_inbox_with([this](storage::InboxRow row) { return call::task_from(core_, std::move(row)); });
}

std::vector<TaskId> EngineImpl::submit(const std::string& handler, std::vector<Submission> submissions) {
  const auto tasks = rows(handler, std::move(submissions));
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  const std::size_t batch = core_.live_options().batch;
  for (std::span<const task::NewTask> rest{tasks}; !rest.empty();) {
    const auto part = rest.first(std::min(batch, rest.size()));
    for (const auto& inserted : value_or_throw(core_.submit(part))) ids.push_back(inserted.id);
    rest = rest.subspan(part.size());
  }
  return ids;
}

std::vector<TaskId> EngineImpl::submit(const Transaction& within, const std::string& handler,
                                       std::vector<Submission> submissions) {
  std::vector<TaskId> ids;
  for (const auto& inserted : value_or_throw(core_.submit(within, rows(handler, std::move(submissions))))) {
    ids.push_back(inserted.id);
  }
  return ids;
}

std::vector<task::NewTask> EngineImpl::rows(const std::string& handler, std::vector<Submission> submissions) {
  const auto registered = known(handler);
  std::vector<task::NewTask> tasks;
  tasks.reserve(submissions.size());
  for (Submission& submission : submissions) {
    tasks.push_back(call::new_task(core_, *registered, std::move(submission)));
  }
  return tasks;
}

DirectResult EngineImpl::call(const std::string& handler, DirectCall& call, const SubmitOptions& options) {
  return direct_calls_.make(*known(handler), call, options);
}

DirectResult EngineImpl::call_failed(const std::string& handler, DirectCall& call, const SubmitOptions& options) {
  return direct_calls_.made(*known(handler), call, options);
}

TaskId EngineImpl::store(const std::string& handler, Submission failed) {
  if (failed.error.empty()) failed.error = "stored by the application";
  const auto registered = known(handler);
  failed.delay = policy::next_delay(registered->backoff, failed.attempts, Millis{0}, core_.random());
  std::vector<Submission> one;
  one.push_back(std::move(failed));
  return submit(handler, std::move(one)).front();
}

Waited EngineImpl::wait_for_end(TaskId id, Millis timeout) {
  const auto answered = std::make_shared<std::promise<Result<engine::Waits::Answer>>>();
  auto answer = answered->get_future();
  const auto done = [answered](Result<engine::Waits::Answer> said) { answered->set_value(std::move(said)); };
  value_or_throw(core_.waits().add(id, core_.clock().steady() + timeout, done));
  return waited(value_or_throw(answer.get()));
}

Waited EngineImpl::waited(engine::Waits::Answer answer) const {
  Waited waited{.end = answer.end};
  if (!answer.record) return waited;
  if (answer.end == WaitEnd::ended && !answer.record->result.empty()) {
    std::string result = value_or_throw(core_.payloads().open_result(*answer.record));
    if (const auto bytes = engine::bytes_left_out(result)) {
      waited.left_out = *bytes;
    } else {
      waited.result = std::move(result);
    }
  }
  waited.task = std::move(answer.record->info);
  return waited;
}

std::string EngineImpl::key_of(const std::string& handler, const std::string& payload) {
  return core_.payloads().derive_key(handler, payload);
}

void EngineImpl::change(const std::string& handler, Handler changes) {
  core_.handlers().change(handler, std::move(changes));
}

void EngineImpl::add(Handler handler) {
  const std::string name = handler.name;
  const std::lock_guard lock{settings_mutex_};
  auto code = configuration_.settle(handler);
  core_.add_handler(std::move(handler));
  configuration_.remember(name, std::move(code));
}

void EngineImpl::add_filter(Filter filter) {
  if (!filter) throw std::invalid_argument("a filter must be callable");
  core_.add_filter(std::move(filter));
}

std::vector<ConfigChange> EngineImpl::reload(const Config& wanted) {
  validate(wanted.engine);
  const std::lock_guard lock{settings_mutex_};
  call::Configuration::Reload reload = configuration_.prepare(wanted);
  core_.reconfigure(reload.handlers, reload.next.engine);
  auto changes = std::move(reload.changes);
  configuration_.commit(std::move(reload));
  return changes;
}

void EngineImpl::follow(const std::string& config_file) {
  auto following = std::make_unique<call::ConfigFollower>(core_, config_file, easyretry_environment(),
                                                          [this](const Config& wanted) { return reload(wanted); });
  const std::lock_guard lock{following_mutex_};
  following_ = std::move(following);
}

void EngineImpl::stop_following() {
  const std::lock_guard lock{following_mutex_};
  following_.reset();
}

void EngineImpl::log_store() {
  const storage::StoreInfo about = core_.store().info();
  core_.log(about.durability.worth_a_warning ? LogLevel::warning : LogLevel::info, to_string(about));
}

void EngineImpl::warn_of_unknown_handlers() {
  for (const std::string& name : configuration_.unknown_handlers()) {
    core_.log(LogLevel::warning, "the configuration names a handler \"" + name + "\", which is not registered here");
  }
}

std::shared_ptr<const engine::KnownHandler> EngineImpl::known(const std::string& handler) {
  return core_.handlers().snapshot()->find(handler);
}

}  // namespace easyretry::detail
