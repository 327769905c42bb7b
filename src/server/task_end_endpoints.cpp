// /v1/tasks/{id}/cancel, complete, fail and requeue: what users decide about a task.

#include "base/json_copy.h"
#include "call/errors.h"
#include "policy/limits.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/served_handlers.h"
#include "server/task_answers.h"
#include "server/task_requests.h"
#include "storage/retention.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

// The request that, with untold, ends a task that waits for its callback and keeps its outcome. For outcomes without
// such a request: cancel, which overrules the outcome.
std::string_view verb_of(Outcome outcome) {
  return outcome == Outcome::succeeded ? "complete" : outcome == Outcome::rejected ? "fail" : "cancel";
}

[[noreturn]] void refuse_end(const std::string& id, const TaskInfo& info) {
  if (info.state == TaskState::finished || info.stage == Stage::run || !info.outcome) {
    throw Refusal{{409, "ended", "task " + id + " has already ended"}};
  }
  throw Refusal{{409, "ended",
                 "task " + id + " is decided: " + std::string{to_string(*info.outcome)} + ", and " +
                     std::string{to_string(info.stage)} + " is due",
                 "it waits for an instance or a worker that has its handler; " + std::string{verb_of(*info.outcome)} +
                     " with untold ends it now"}};
}

// For a task that was just ended. It has ended even if the store does not answer now.
bool waits_for_its_owner(const Call& call, TaskId id) {
  const auto found = call.name_space->core().find(id);
  if (!found || !*found) return false;
  const TaskInfo& info = (*found)->info;
  const bool waits = info.state == TaskState::pending && info.stage != Stage::run;
  return waits && !ServedHandlers{*call.name_space}.is_served(info.handler);
}

// `past`: the word for it in the answer.
http::Response ended(const Call& call, task::Ending as, std::string_view past) {
  require_known(call.request, {"untold"});
  const TaskId id = parse_id(call.request.parameters.at("id"));
  engine::Core& core = call.name_space->core();
  as.tell = !yes(call.request.target.query, "untold");
  if (!value_or_throw(core.end(id, as))) {
    const auto record = value_or_throw(core.find(id));
    if (!record) throw Refusal{no_such_task(call.request.parameters.at("id"))};
    refuse_end(to_string(id), record->info);
  }
  const std::string hint =
      as.tell && waits_for_its_owner(call, id)
          ? R"(,"hint":"its owner is told when an instance or a worker has its handler; untold=true ends it now")"
          : "";
  return {.body = R"({")" + std::string{past} + R"(":true)" + hint + "}"};
}

http::Response cancel(const Call& call) {
  require_no_body(call.request);
  return ended(call, {.outcome = Outcome::cancelled}, "cancelled");
}

http::Response complete(const Call& call) {
  const std::string_view given = call.request.body;
  const JsonDocument body = JsonDocument::parse(given.empty() ? "{}" : given);
  Fields fields{body.root()};
  fields.find("result");
  task::Ending as{.outcome = Outcome::succeeded};
  as.keep_result = fields.millis("keep_result_ms", policy::kLongestDelay).value_or(Millis{0});
  fields.end();
  // null is a result, too.
  if (const auto result = body.root().find("result")) as.result = base::canonical_json(*result);
  return ended(call, std::move(as), "completed");
}

http::Response fail(const Call& call) {
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  task::Ending as{.outcome = Outcome::rejected, .error = reason_in(fields)};
  fields.end();
  return ended(call, std::move(as), "failed");
}

struct RequeuedAnswer {
  ShownId id;
};
EASYRETRY_JSON(RequeuedAnswer, id)

struct RequeueRequest {
  std::optional<std::string> arguments{};
  std::optional<TaskClass> task_class{};
};

// The task keeps the values that the body does not name. Only clients that may see arguments may set them.
RequeueRequest requeue_request(const Call& call) {
  if (call.request.body.empty()) return {};
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const auto given = fields.find("args");
  RequeueRequest asked{.task_class = fields.task_class()};
  fields.end();
  if (!given) return asked;
  if (!call.by.may(Right::payloads)) {
    throw Refusal{{403, "forbidden", "token " + call.by.name + " may not set arguments", "use a token with +payloads"}};
  }
  asked.arguments = arguments_text(*given);
  return asked;
}

std::optional<TaskId> requeued(engine::Core& core, TaskId id, RequeueRequest asked) {
  if (asked.arguments) return value_or_throw(core.requeue_with(id, *std::move(asked.arguments), asked.task_class));
  return value_or_throw(core.requeue(std::span{&id, 1}, asked.task_class)).front();
}

http::Response requeue(const Call& call) {
  require_known(call.request, {});
  const std::string& id = call.request.parameters.at("id");
  const TaskId task = parse_id(id);
  RequeueRequest asked = requeue_request(call);
  const bool has_own = !asked.arguments;
  const auto again = requeued(call.name_space->core(), task, std::move(asked));
  if (again) return {.status = 201, .body = to_json(RequeuedAnswer{*again})};
  const auto record = value_or_throw(call.name_space->core().find(task));
  if (!record) throw Refusal{no_such_task(id)};
  if (const auto& as = record->info.requeued_as) {
    throw Refusal{{409, "requeued", "task " + id + " was already requeued as " + to_string(*as),
                   "to run it once more, requeue the new task when it has ended"}};
  }
  if (has_own && record->info.state == TaskState::finished && storage::lacks_arguments(*record)) {
    throw Refusal{{409, "no_arguments", "the arguments of task " + id + " were removed (keep_args of its handler)",
                   "requeue it with arguments: {\"args\": […]}"}};
  }
  throw Refusal{{409, "live", "task " + id + " has not ended, or a task with its key is live again"}};
}

}  // namespace

void add_task_end_endpoints(Api& api) {
  api.add(Method::post, "/v1/tasks/{id}/cancel", Right::operate, PlainEndpoint{cancel});
  api.add(Method::post, "/v1/tasks/{id}/complete", Right::operate, PlainEndpoint{complete}, kLongBody);
  api.add(Method::post, "/v1/tasks/{id}/fail", Right::operate, PlainEndpoint{fail});
  api.add(Method::post, "/v1/tasks/{id}/requeue", Right::operate, PlainEndpoint{requeue}, kLongBody);
}

}  // namespace easyretry::server
