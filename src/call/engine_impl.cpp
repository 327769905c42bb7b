#include "call/engine_impl.h"

#include <algorithm>

#include "policy/limits.h"
#include "task/task_key.h"

namespace easyretry::detail {
namespace {

constexpr std::size_t kMaxKey = 255;  // what the SQL stores' key column holds

void check_length(const char* what, const std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  throw std::invalid_argument(std::string{what} + " has " + std::to_string(text.size()) + " bytes; at most " +
                              std::to_string(most) + " are allowed");
}

}  // namespace

EngineImpl::EngineImpl(std::shared_ptr<storage::Store> store, const Clock& clock, EngineOptions options,
                       const engine::MakeWorkers& workers)
    : core_(std::move(store), clock, {std::move(options), "", 0}, workers) {}

std::vector<TaskId> EngineImpl::submit(const std::string& handler, std::vector<Submission> submissions) {
  const auto known = core_.context().handlers.snapshot()->find(handler);
  std::vector<task::NewTask> tasks;
  tasks.reserve(submissions.size());
  for (Submission& submission : submissions) tasks.push_back(new_task(*known, std::move(submission)));

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

task::NewTask EngineImpl::new_task(const engine::KnownHandler& handler, Submission submission) {
  const EngineOptions& options = core_.context().options;
  check_length("the payload", submission.payload, options.max_payload);
  check_length("the key", submission.options.key, kMaxKey);
  check_length("the business type", submission.options.business_type, kMaxKey);
  check_length("the business id", submission.options.business_id, kMaxKey);
  if (submission.delay < Millis{0} || submission.delay > policy::kLongestDelay) {
    throw std::invalid_argument("the delay is " + std::to_string(submission.delay.count()) + " ms; use 0 to ten years");
  }

  task::NewTask task;
  task.space = options.space;
  task.handler = handler.handler.name;
  task.key = submission.options.key.empty() ? task::derive_key(task.handler, submission.payload)
                                            : std::move(submission.options.key);
  task.payload = std::move(submission.payload);
  task.business_type = std::move(submission.options.business_type);
  task.business_id = std::move(submission.options.business_id);
  const Stop& stop = handler.handler.policy.stop;
  task.rules = {stop.max_attempts, stop.max_duration,
                submission.options.deadline ? submission.options.deadline : stop.deadline, handler.backoff_text};
  task.due_at = submission.options.due_at;
  task.delay = submission.delay;
  return task;
}

void EngineImpl::set_on_success(const std::string& handler, decltype(Handler::on_success) callback) {
  core_.context().handlers.set_on_success(handler, std::move(callback));
}

void EngineImpl::set_on_final_failure(const std::string& handler, decltype(Handler::on_final_failure) callback) {
  core_.context().handlers.set_on_final_failure(handler, std::move(callback));
}

}  // namespace easyretry::detail
