// /v1/tasks and /v1/history. How users end tasks and requeue them is in task_end_endpoints.cpp.

#include <algorithm>
#include <map>

#include "base/json_copy.h"
#include "call/errors.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/served_handlers.h"
#include "server/task_answers.h"
#include "server/task_requests.h"
#include "server/waits_for.h"
#include "storage/retention.h"
#include "task/list_cursor.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

constexpr Millis kLongestWait{60'000};
constexpr Millis kLongestSearch{150};  // for one page

void require_worker(const Token& by, const std::vector<task::NewTask>& tasks) {
  if (by.may(Right::work)) return;
  for (const task::NewTask& task : tasks) {
    if (task.lease == Millis{0}) continue;
    throw Refusal{{403, "forbidden", "the role " + by.role + " of token " + by.name + " may not lease tasks",
                   "leave out owner and lease_ms, or use a token with the role application"}};
  }
}

struct StoredTask {
  ShownId id;
  std::string_view key;
  std::int64_t version = 0;
  ShownTime next_at;
  bool created = false;
};
EASYRETRY_JSON(StoredTask, id, key, version, next_at, created)

struct StoredTasks {
  std::vector<StoredTask> tasks{};
};
EASYRETRY_JSON(StoredTasks, tasks)

http::Response stored(const std::vector<std::string>& keys, bool one, const std::vector<storage::Inserted>& inserted) {
  StoredTasks answer;
  answer.tasks.reserve(inserted.size());
  bool created = false;
  for (std::size_t i = 0; i < inserted.size(); ++i) {
    answer.tasks.push_back({inserted[i].id, keys[i], inserted[i].version, inserted[i].next_at, inserted[i].created});
    created |= inserted[i].created;
  }
  return {.status = created ? 201 : 200, .body = one ? to_json(answer.tasks.front()) : to_json(answer)};
}

// The Idempotency-Key of the request, if it has one.
std::optional<RememberedAnswers::Name> name_of(const Call& call) {
  constexpr std::size_t kMostBytes = 255;
  const auto key = call.request.header(kIdempotencyHeader);
  if (!key) return std::nullopt;
  const bool visible = std::ranges::all_of(*key, [](char c) { return c >= '!' && c <= '~'; });
  if (key->empty() || key->size() > kMostBytes || !visible) {
    throw Refusal{{422, "invalid", "Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces"}};
  }
  return RememberedAnswers::Name{call.by.name, std::string{*key}};
}

// False: the queue is full.
bool put(const Call& call, std::vector<task::NewTask> tasks, Submissions::Done done) {
  const auto name = name_of(call);
  if (!name) return call.name_space->submissions().put(std::move(tasks), std::move(done));
  RememberedAnswers& remembered = call.name_space->remembered();
  switch (remembered.ask(*name, call.request.body, std::move(done))) {
    case RememberedAnswers::Seen::before: return true;
    case RememberedAnswers::Seen::different:
      throw Refusal{{422, "idempotency_key_reused", "this Idempotency-Key was used for another request",
                     "use a new key for a new request; a repetition must be identical byte by byte"}};
    case RememberedAnswers::Seen::never: break;
  }
  const bool taken = call.name_space->submissions().put(
      std::move(tasks), [&remembered, name = *name](const auto& inserted) { remembered.answered(name, inserted); });
  if (!taken) remembered.forget(*name);
  return taken;
}

// A client that repeats the request must know whether the daemon would remember the first one.
http::Respond with_reach(const Call& call, const http::Respond& respond) {
  if (!call.request.header(kIdempotencyHeader)) return respond;
  return [respond, &remembered = call.name_space->remembered()](http::Response response) {
    response.headers.emplace_back(kReachHeader, std::to_string(remembered.reach().count()));
    respond(std::move(response));
  };
}

// Errors are answered at once; only valid tasks wait for the store.
void submit(const Call& call, const http::Respond& asker) {
  require_known(call.request, {});
  const http::Respond respond = with_reach(call, asker);
  const JsonDocument body = JsonDocument::parse(call.request.body);
  SubmittedTasks submitted = submitted_tasks(*call.name_space, body.root());
  require_worker(call.by, submitted.tasks);
  std::vector<std::string> keys;
  keys.reserve(submitted.tasks.size());
  for (const task::NewTask& task : submitted.tasks) keys.push_back(task.key);
  const auto done = [respond, keys = std::move(keys), one = submitted.one, id = call.request.id](auto inserted) {
    answer(respond, id, [&] { respond(stored(keys, one, value_or_throw(std::move(inserted)))); });
  };
  if (!put(call, std::move(submitted.tasks), done)) {
    throw Refusal{{503, "busy", "too many tasks are waiting to be stored", "try again later", {{"Retry-After", "1"}}}};
  }
}

// Marks due tasks that no instance and no worker takes.
class HandlerCheck {
 public:
  explicit HandlerCheck(Namespace& name_space) : served_handlers_(name_space), now_(name_space.core().store_now()) {}

  // Asks once for each handler: many tasks of a page have the same handler.
  void mark(TaskAnswer& answer, const TaskInfo& info) {
    if (info.state != TaskState::pending || info.next_at > now_) return;
    const auto [found, fresh] = served_.try_emplace(info.handler);
    if (fresh) found->second = served_handlers_.is_served(info.handler);
    if (!found->second) answer.no_handler = true;
  }

 private:
  const ServedHandlers served_handlers_;
  const TimePoint now_;
  std::map<std::string, bool> served_;
};

http::Response list(const Call& call, bool finished) {
  const TaskQuery query = task_query(call.request.target.query, finished);
  const auto found = value_or_throw(call.name_space->core().page(query, kLongestSearch));
  TaskPage page;
  page.tasks.reserve(found.records.size());
  HandlerCheck check{*call.name_space};
  for (const task::TaskRecord& record : found.records) check.mark(page.tasks.emplace_back(shown(record)), record.info);
  if (found.next) page.next = to_text(task::ListCursor{query.order, *found.next});
  if (storage::needs_walk(query, call.name_space->core().store().info())) page.scanned = found.scanned;
  return {.body = to_json(page)};
}

// The finished task from which this one was requeued, if history still has it. A key may have many records in history;
// only the newest pages are searched.
std::optional<TaskId> requeue_of(engine::Core& core, const TaskInfo& info) {
  constexpr int kPages = 10;
  if (info.generation == 0) return std::nullopt;
  TaskQuery query{.finished = true, .key = info.key, .requeued = true, .order = ListOrder::newest_first};
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

// A token that leases tasks, with their arguments, may also see their results.
void require_right_to_see(const Call& call) {
  const auto refuse = [&](const std::string& what) {
    throw Refusal{{403, "forbidden", "token " + call.by.name + " may not see " + what, "use a token with +payloads"}};
  };
  const bool all = call.by.may(Right::payloads);
  if (call.request.target.query.contains("args") && !all) refuse("arguments");
  if (call.request.target.query.contains("result") && !all && !call.by.may(Right::work)) refuse("results");
}

// The answer refers to the result.
void show_result(const std::string& result, const task::TaskRecord& record, TaskAnswer& answer) {
  if (const auto bytes = engine::bytes_left_out(result)) {
    answer.result_left_out = static_cast<std::int64_t>(*bytes);
    return;
  }
  answer.result = ShownJson{result};
  answer.payload_version = record.payload_version;  // an engine that encrypts needs it to open the result
}

// `awaited`: the result of a wait for it.
http::Response show(const Call& call, std::optional<WaitEnd> awaited = {}) {
  const std::string& id = call.request.parameters.at("id");
  engine::Core& core = call.name_space->core();
  const auto record = value_or_throw(core.find(parse_id(id)));
  if (!record && (awaited == WaitEnd::ended || awaited == WaitEnd::gone)) {
    throw Refusal{{404, "not_found", "task " + id + " has ended, and history does not keep it",
                   "keep of its handler, and history of the store, decide which tasks are kept"}};
  }
  if (!record) throw Refusal{no_such_task(id)};
  TaskAnswer answer = shown(*record);
  std::string arguments;
  if (call.request.target.query.contains("args")) {
    if (!storage::lacks_arguments(*record)) {
      arguments = value_or_throw(core.payloads().open_arguments(*record));
      answer.args = ShownJson{arguments};
    }
  }
  std::string result;
  const bool kept = record->info.state == TaskState::finished && !record->result.empty();
  if (kept && call.request.target.query.contains("result")) {
    result = value_or_throw(core.payloads().open_result(*record));
    show_result(result, *record, answer);
  }
  HandlerCheck{*call.name_space}.mark(answer, record->info);
  answer.requeue_of = requeue_of(core, record->info);
  answer.waits_for = waits_for(*call.name_space, *record);
  return {.body = to_json(answer)};
}

// Waits for the end of the task, and holds no thread meanwhile.
void show_when_ended(ApiThreads& threads, const std::shared_ptr<const Call>& call, const http::Respond& respond,
                     Millis wait) {
  const auto done = [&threads, call, respond](const Result<engine::Waits::Answer>& answered) {
    threads.put_anyway([call, respond, end = answered ? std::optional{answered->end} : std::nullopt] {
      answer(respond, call->request.id, [&] { respond(show(*call, end)); });
    });
  };
  const TaskId id = parse_id(call->request.parameters.at("id"));
  const auto place = call->name_space->core().waits().add(id, system_clock().steady() + wait, done);
  if (!place) throw Refusal{busy()};
  call->request.when_gone([name_space = call->name_space, place = *place] { name_space->core().waits().leave(place); });
}

void show_now_or_later(ApiThreads& threads, Call asked, const http::Respond& respond) {
  require_known(asked.request, {"args", "result", "wait_ms"});
  require_right_to_see(asked);
  const Millis wait = millis(asked.request.target.query, "wait_ms", kLongestWait);
  const auto call = std::make_shared<const Call>(std::move(asked));
  if (wait > Millis{0}) return show_when_ended(threads, call, respond, wait);
  const bool taken = threads.put([call, respond] { answer(respond, call->request.id, [&] { respond(show(*call)); }); });
  if (!taken) throw Refusal{busy()};
}

// Only pending tasks can be revised. Says why this one cannot, and what to do.
[[noreturn]] void refuse_revision(const Call& call, const std::string& id) {
  const auto record = value_or_throw(call.name_space->core().find(parse_id(id)));
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
  require_nothing(call.request);
  const std::string& id = call.request.parameters.at("id");
  if (!value_or_throw(call.name_space->core().retry_now(parse_id(id)))) refuse_revision(call, id);
  return {.body = R"({"retried":true})"};
}

http::Response edit(const Call& call) {
  require_known(call.request, {});
  const std::string& id = call.request.parameters.at("id");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const PolicyPatch patch{fields.need("policy")};
  fields.end();
  const auto edited = [&](const task::RetryRules& rules) { return patch.applied_to(rules); };
  if (!value_or_throw(call.name_space->core().revise_rules(parse_id(id), edited))) refuse_revision(call, id);
  const auto record = value_or_throw(call.name_space->core().find(parse_id(id)));
  if (!record) throw Refusal{no_such_task(id)};
  TaskAnswer answer = shown(*record);
  HandlerCheck{*call.name_space}.mark(answer, record->info);
  return {.body = to_json(answer)};
}

}  // namespace

void add_task_endpoints(Api& api) {
  api.add(Method::post, "/v1/tasks", Right::submit, Endpoint{submit}, kLongBody);
  api.add(Method::get, "/v1/tasks", Right::view, PlainEndpoint{[](const Call& call) { return list(call, false); }});
  api.add(Method::get, "/v1/history", Right::view, PlainEndpoint{[](const Call& call) { return list(call, true); }});
  api.add(Method::get, "/v1/tasks/{id}", Right::view, Endpoint{[&api](Call call, const http::Respond& respond) {
            show_now_or_later(api.threads(), std::move(call), respond);
          }});
  api.add(Method::patch, "/v1/tasks/{id}", Right::operate, PlainEndpoint{edit});
  api.add(Method::post, "/v1/tasks/{id}/retry", Right::operate, PlainEndpoint{retry});
}

}  // namespace easyretry::server
