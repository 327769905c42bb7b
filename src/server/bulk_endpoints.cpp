// /v1/bulk: one change to all tasks that match a filter.

#include <array>

#include "base/time_text.h"
#include "call/errors.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/task_json.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

constexpr std::int64_t kUsualMost = 10'000;
constexpr std::int64_t kMost = 10'000'000;
constexpr std::size_t kSamples = 10;

struct Action {
  std::string_view name;
  bool of_the_ended;
  Result<std::vector<bool>> (*change)(engine::Core& core, std::span<const TaskId> ids);
};

Result<std::vector<bool>> cancel(engine::Core& core, std::span<const TaskId> ids) {
  return core.cancel(ids);
}
Result<std::vector<bool>> cancel_untold(engine::Core& core, std::span<const TaskId> ids) {
  return core.cancel(ids, engine::Core::Tell::nobody);
}
Result<std::vector<bool>> requeue(engine::Core& core, std::span<const TaskId> ids) {
  return core.requeue(ids).map([](const std::vector<std::optional<TaskId>>& again) {
    std::vector<bool> done;
    done.reserve(again.size());
    for (const auto& id : again) done.push_back(id.has_value());
    return done;
  });
}
Result<std::vector<bool>> retry(engine::Core& core, std::span<const TaskId> ids) {
  return core.retry_now(ids);
}

constexpr std::array kActions{Action{"cancel", false, cancel}, Action{"requeue", true, requeue},
                              Action{"retry", false, retry}};

const Action& action_of(const std::string& name) {
  std::string known;
  for (const Action& action : kActions) {
    if (action.name == name) return action;
    known.append(known.empty() ? "" : ", ").append(action.name);
  }
  throw Refusal{{422, "invalid", "$.action: unknown action \"" + name + "\"; known: " + known}};
}

// The filter has the parameters of GET /v1/tasks and /v1/history.
TaskQuery query_of(Fields& fields, bool finished) {
  Conditions conditions;
  if (const auto filter = fields.find("filter")) {
    filter->expect(JsonKind::object);
    for (const auto [name, value] : filter->members()) conditions.emplace(name, value.as_string());
  }
  const bool everything = fields.flag("everything", false);
  // `requeued` adds tasks instead of restricting the query.
  const bool restricted = conditions.size() > conditions.count("requeued");
  if (everything ? !conditions.empty() : !restricted) {
    throw Refusal{{422, "invalid",
                   everything ? "everything and a filter contradict each other"
                              : "without a filter this would change every task of the namespace",
                   "give a filter, or set \"everything\": true"}};
  }
  for (const auto& [name, value] : conditions) {
    if (name == "after" || name == "limit") {
      throw Refusal{{422, "invalid", "$.filter." + name + " is for paging; leave it out"}};
    }
    // For a list, an empty value means no restriction. Here it is more likely an unset variable in a script.
    if (value.empty()) throw Refusal{{422, "invalid", "$.filter." + name + " is empty; leave it out or give a value"}};
  }
  return task_query(conditions, finished);
}

void write_job(JsonWriter& out, const Bulk::Job& job) {
  const auto number = [&](std::string_view name, std::int64_t value) {
    out.key(name);
    out.integer(value);
  };
  const auto text = [&](std::string_view name, const std::string& value) {
    out.key(name);
    out.string(value);
  };
  out.begin_object();
  text("id", job.id);
  text("action", job.action);
  text("state", name_of(job.state));
  number("matched", job.matched);
  number("changed", job.changed);
  number("skipped", job.skipped);
  if (!job.error.empty()) text("error", job.error);
  text("asked_at", base::to_text(job.asked_at));
  if (job.ended_at) text("ended_at", base::to_text(*job.ended_at));
  out.end_object();
}

http::Response shown(const Bulk::Job& job, int status = 200) {
  JsonWriter out;
  write_job(out, job);
  return {.status = status, .body = out.take()};
}

http::Response planned(Space& space, const Action& action, TaskQuery query, std::int64_t matched) {
  query.limit = kSamples;
  JsonWriter out;
  out.begin_object();
  out.key("action");
  out.string(action.name);
  out.key("created_until");
  out.string(base::to_text(*query.created_at.until));
  out.key("dry_run");
  out.boolean(true);
  out.key("matched");
  out.integer(matched);
  out.key("sample");
  out.begin_array();
  for (const auto& record : value_or_throw(space.core().list(query))) out.string(to_string(record.info.id));
  out.end_array();
  out.end_object();
  return {.body = out.take()};
}

http::Response begin(const Call& call) {
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  Action action = action_of(fields.text("action"));
  if (fields.flag("untold", false)) {
    if (action.name != "cancel") throw Refusal{{422, "invalid", "$.untold is only for the action cancel"}};
    action.change = cancel_untold;
  }
  TaskQuery query = query_of(fields, action.of_the_ended);
  const std::int64_t most = fields.number("most", kUsualMost, 1, kMost);
  const bool dry_run = fields.flag("dry_run", false);
  fields.end();
  engine::Core& core = call.space->core();
  // Tasks that this job creates, or that are submitted from now on, do not count.
  const TimePoint now = core.store_now() + Millis{1};
  query.created_at.until = std::min(now, query.created_at.until.value_or(now));
  const std::int64_t matched = value_or_throw(core.count(query));
  if (dry_run) return planned(*call.space, action, std::move(query), matched);
  if (matched > most) {
    throw Refusal{
        {422, "too_many",
         "the filter finds " + std::to_string(matched) + " tasks, more than \"most\", " + std::to_string(most),
         "narrow the filter, or raise \"most\" if you mean all of them"}};
  }
  return shown(call.space->bulk().begin(
                   std::string{action.name}, std::move(query), matched,
                   [&core, change = action.change](std::span<const TaskId> ids) { return change(core, ids); }),
               202);
}

Bulk::Job found(const std::optional<Bulk::Job>& job, const Call& call) {
  if (job) return *job;
  throw Refusal{{404, "not_found", "there is no job " + call.request.parameters.at("id") + " on this instance",
                 "only the instance that runs a job knows it, until it stops or 100 newer jobs have started"}};
}

http::Response show(const Call& call) {
  require_known(call.request, {});
  return shown(found(call.space->bulk().find(call.request.parameters.at("id")), call));
}

http::Response stop(const Call& call) {
  return shown(found(call.space->bulk().stop(call.request.parameters.at("id")), call));
}

http::Response list(const Call& call) {
  require_known(call.request, {});
  JsonWriter out;
  out.begin_object();
  out.key("jobs");
  out.begin_array();
  for (const Bulk::Job& job : call.space->bulk().all()) write_job(out, job);
  out.end_array();
  out.end_object();
  return {.body = out.take()};
}

}  // namespace

void add_bulk_endpoints(Api& api) {
  api.add(Method::post, "/v1/bulk", Right::operate, PlainEndpoint{begin});
  api.add(Method::get, "/v1/bulk", Right::view, PlainEndpoint{list});
  api.add(Method::get, "/v1/bulk/{id}", Right::view, PlainEndpoint{show});
  api.add(Method::post, "/v1/bulk/{id}/stop", Right::operate, PlainEndpoint{stop});
}

}  // namespace easyretry::server
