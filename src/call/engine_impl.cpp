#include "call/engine_impl.h"

#include <algorithm>

#include "call/errors.h"
#include "call/new_tasks.h"
#include "policy/decide.h"

namespace easyretry::detail {

using call::value_or_throw;

EngineImpl::EngineImpl(std::shared_ptr<storage::Store> store, const Clock& clock, EngineOptions options,
                       const engine::MakeWorkers& workers)
    : core_(std::move(store), clock, {std::move(options), "", 0}, workers),
      direct_calls_(core_, [this](Millis delay) { return wait(delay); }) {}

std::vector<TaskId> EngineImpl::submit(const std::string& handler, std::vector<Submission> submissions) {
  const auto tasks = rows(handler, std::move(submissions));
  std::vector<TaskId> ids;
  ids.reserve(tasks.size());
  const std::size_t batch = core_.context().options.batch;
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
    tasks.push_back(call::new_task(core_.context(), *registered, std::move(submission)));
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
  failed.delay = policy::next_delay(registered->handler.policy.backoff, failed.attempts, Millis{0},
                                    core_.context().random.unit());
  std::vector<Submission> one;
  one.push_back(std::move(failed));
  return submit(handler, std::move(one)).front();
}

void EngineImpl::change(const std::string& handler, Handler changes) {
  core_.context().handlers.change(handler, std::move(changes));
}

void EngineImpl::add(Handler handler) {
  if (!handler.options.persist) handler.options.persist = core_.context().options.persist;
  core_.context().handlers.add(std::move(handler));
  core_.loader.hurry();  // its tasks may have been waiting for it
}

void EngineImpl::add_filter(Filter filter) {
  if (!filter) throw std::invalid_argument("a filter must be callable");
  core_.context().handlers.close_gates();
  core_.context().filters.add(std::move(filter));
}

std::shared_ptr<const engine::KnownHandler> EngineImpl::known(const std::string& handler) {
  return core_.context().handlers.snapshot()->find(handler);
}

}  // namespace easyretry::detail
