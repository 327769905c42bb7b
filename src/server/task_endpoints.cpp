// /v1/tasks and /v1/history.

#include "base/time_text.h"
#include "call/errors.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/task_json.h"
#include "server/task_requests.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

http::Problem no_such_task(const std::string& id) {
  return {404, "not_found", "there is no task " + id + " in this namespace",
          "tasks that ended long ago are removed from history"};
}

void write_inserted(JsonWriter& out, const storage::Inserted& inserted, const std::string& key) {
  out.begin_object();
  out.key("created");
  out.boolean(inserted.created);
  out.key("id");
  out.string(to_string(inserted.id));
  out.key("key");
  out.string(key);
  out.key("version");
  out.integer(inserted.version);
  out.key("next_at");
  out.string(base::to_text(inserted.next_at));
  out.end_object();
}

void require_worker(const Token& by, const std::vector<task::NewTask>& tasks) {
  if (by.may(Right::work)) return;
  for (const task::NewTask& task : tasks) {
    if (task.lease == Millis{0}) continue;
    throw Refusal{{403, "forbidden", "the role " + by.role + " of token " + by.name + " may not lease tasks",
                   "leave out owner and lease_ms, or use a token with the role application"}};
  }
}

http::Response stored(const std::vector<std::string>& keys, bool one, const std::vector<storage::Inserted>& inserted) {
  JsonWriter out;
  bool created = false;
  if (!one) {
    out.begin_object();
    out.key("tasks");
    out.begin_array();
  }
  for (std::size_t i = 0; i < inserted.size(); ++i) {
    write_inserted(out, inserted[i], keys[i]);
    created |= inserted[i].created;
  }
  if (!one) {
    out.end_array();
    out.end_object();
  }
  return {.status = created ? 201 : 200, .body = out.take()};
}

// The Idempotency-Key of the request, if it has one.
std::optional<RememberedAnswers::Name> name_of(const Call& call) {
  constexpr std::size_t kMostBytes = 255;
  const auto key = call.request.header(kIdempotencyHeader);
  if (!key) return std::nullopt;
  if (key->empty() || key->size() > kMostBytes) {
    throw Refusal{{422, "invalid", "Idempotency-Key must have 1 to 255 bytes"}};
  }
  return RememberedAnswers::Name{call.by.name, std::string{*key}};
}

// False: the queue is full.
bool put(const Call& call, std::vector<task::NewTask> tasks, Submissions::Done done) {
  const auto name = name_of(call);
  if (!name) return call.space->submissions().put(std::move(tasks), std::move(done));
  RememberedAnswers& remembered = call.space->remembered();
  switch (remembered.ask(*name, call.request.body, std::move(done))) {
    case RememberedAnswers::Seen::before: return true;
    case RememberedAnswers::Seen::different:
      throw Refusal{{422, "idempotency_key_reused", "this Idempotency-Key was used for another request",
                     "use a new key for a new request; a repetition must be identical byte by byte"}};
    case RememberedAnswers::Seen::never: break;
  }
  const bool taken = call.space->submissions().put(
      std::move(tasks), [&remembered, name = *name](const auto& inserted) { remembered.answered(name, inserted); });
  if (!taken) remembered.forget(*name);
  return taken;
}

// A client that repeats the request must know whether the daemon would remember the first one.
http::Respond with_reach(const Call& call, const http::Respond& respond) {
  if (!call.request.header(kIdempotencyHeader)) return respond;
  return [respond, &remembered = call.space->remembered()](http::Response response) {
    response.headers.emplace_back(kReachHeader, std::to_string(remembered.reach().count()));
    respond(std::move(response));
  };
}

// Errors are answered at once; only valid tasks wait for the store.
void submit(const Call& call, const http::Respond& asker) {
  const http::Respond respond = with_reach(call, asker);
  const JsonDocument body = JsonDocument::parse(call.request.body);
  SubmittedTasks submitted = submitted_tasks(*call.space, body.root());
  require_worker(call.by, submitted.tasks);
  std::vector<std::string> keys;
  keys.reserve(submitted.tasks.size());
  for (const task::NewTask& task : submitted.tasks) keys.push_back(task.key);
  const auto done = [respond, keys = std::move(keys), one = submitted.one, id = call.request.id](auto inserted) {
    answer(respond, id, nullptr, [&] { respond(stored(keys, one, value_or_throw(std::move(inserted)))); });
  };
  if (!put(call, std::move(submitted.tasks), done)) {
    throw Refusal{{503, "busy", "too many tasks are waiting to be stored", "try again later", {{"Retry-After", "1"}}}};
  }
}

http::Response list(const Call& call, bool finished) {
  const TaskQuery query = task_query(call.request.target.query, finished);
  const auto found = value_or_throw(call.space->core().list(query));
  JsonWriter out;
  out.begin_object();
  out.key("tasks");
  out.begin_array();
  for (const task::TaskRecord& record : found) write_task(out, record);
  out.end_array();
  if (found.size() == query.limit) {
    out.key("next");
    out.string(to_string(found.back().info.id));
  }
  out.end_object();
  return {.body = out.take()};
}

// The finished task from which this one was requeued, if history still has it. A key may have many records in history;
// only some pages are searched.
std::optional<TaskId> requeue_of(engine::Core& core, const TaskInfo& info) {
  constexpr int kPages = 10;
  if (info.generation == 0) return std::nullopt;
  TaskQuery query{.finished = true, .key = info.key, .requeued = true};
  for (int i = 0; i < kPages; ++i) {
    const auto found = value_or_throw(core.list(query));
    for (const task::TaskRecord& record : found) {
      if (record.info.requeued_as == info.id) return record.info.id;
    }
    if (found.size() < query.limit) break;
    query.after = found.back().info.id;
  }
  return std::nullopt;
}

http::Response show(const Call& call) {
  require_known(call.request, {"args"});
  const std::string& id = call.request.parameters.at("id");
  const auto record = value_or_throw(call.space->core().find(parse_id(id)));
  if (!record) throw Refusal{no_such_task(id)};
  TaskDetails details;
  if (call.request.target.query.contains("args")) {
    if (!call.by.may(Right::payloads)) {
      throw Refusal{
          {403, "forbidden", "token " + call.by.name + " may not see arguments", "use a token with +payloads"}};
    }
    details.arguments = value_or_throw(call.space->core().payloads().open_arguments(*record));
  }
  details.requeue_of = requeue_of(call.space->core(), record->info);
  JsonWriter out;
  write_task(out, *record, details);
  return {.body = out.take()};
}

http::Response cancel(const Call& call) {
  require_known(call.request, {"untold"});
  using Tell = engine::Core::Tell;
  const std::string& id = call.request.parameters.at("id");
  const Tell whom = yes(call.request.target.query, "untold") ? Tell::nobody : Tell::owner;
  if (value_or_throw(call.space->core().cancel(parse_id(id), whom))) return {.body = R"({"cancelled":true})"};
  if (!value_or_throw(call.space->core().find(parse_id(id)))) throw Refusal{no_such_task(id)};
  throw Refusal{{409, "ended", "task " + id + " has already ended, or its callback is due"}};
}

http::Response requeue(const Call& call) {
  const std::string& id = call.request.parameters.at("id");
  const auto again = value_or_throw(call.space->core().requeue(parse_id(id)));
  if (again) return {.status = 201, .body = R"({"id":")" + to_string(*again) + R"("})"};
  const auto record = value_or_throw(call.space->core().find(parse_id(id)));
  if (!record) throw Refusal{no_such_task(id)};
  if (const auto& as = record->info.requeued_as) {
    throw Refusal{{409, "requeued", "task " + id + " was already requeued as " + to_string(*as),
                   "to run it once more, requeue the new task when it has ended"}};
  }
  throw Refusal{{409, "live", "task " + id + " has not ended, or a task with its key is live again"}};
}

// Only pending tasks can be revised. Says why this one cannot, and what to do.
[[noreturn]] void refuse_revision(const Call& call, const std::string& id) {
  const auto record = value_or_throw(call.space->core().find(parse_id(id)));
  if (!record) throw Refusal{no_such_task(id)};
  switch (record->info.state) {
    case TaskState::running:
      throw Refusal{{409, "running", "task " + id + " is running", "wait until it is pending again, or has ended"}};
    case TaskState::finished:
      throw Refusal{{409, "ended", "task " + id + " has ended", "requeue starts it again, as a new task"}};
    case TaskState::pending: break;
  }
  throw Refusal{{409, "changed", "task " + id + " was changed at the same time", "read it again, then retry"}};
}

http::Response retry(const Call& call) {
  const std::string& id = call.request.parameters.at("id");
  if (!value_or_throw(call.space->core().retry_now(parse_id(id)))) refuse_revision(call, id);
  return {.body = R"({"retried":true})"};
}

http::Response edit(const Call& call) {
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const PolicyPatch patch{fields.need("policy")};
  fields.end();
  const auto edited = [&](const task::RetryRules& rules) { return patch.applied_to(rules); };
  if (!value_or_throw(call.space->core().revise_rules(parse_id(id), edited))) refuse_revision(call, id);
  const auto record = value_or_throw(call.space->core().find(parse_id(id)));
  if (!record) throw Refusal{no_such_task(id)};
  JsonWriter out;
  write_task(out, *record);
  return {.body = out.take()};
}

}  // namespace

void add_task_endpoints(Api& api) {
  api.add(Method::post, "/v1/tasks", Right::submit, Endpoint{submit}, kLongBody);
  api.add(Method::get, "/v1/tasks", Right::view, PlainEndpoint{[](const Call& call) { return list(call, false); }});
  api.add(Method::get, "/v1/history", Right::view, PlainEndpoint{[](const Call& call) { return list(call, true); }});
  api.add(Method::get, "/v1/tasks/{id}", Right::view, PlainEndpoint{show});
  api.add(Method::patch, "/v1/tasks/{id}", Right::operate, PlainEndpoint{edit});
  api.add(Method::post, "/v1/tasks/{id}/retry", Right::operate, PlainEndpoint{retry});
  api.add(Method::post, "/v1/tasks/{id}/cancel", Right::operate, PlainEndpoint{cancel});
  api.add(Method::post, "/v1/tasks/{id}/requeue", Right::operate, PlainEndpoint{requeue});
}

}  // namespace easyretry::server
