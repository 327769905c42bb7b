// /v1/bulk: one change to all tasks that match a filter.

#include <algorithm>
#include <array>

#include "call/errors.h"
#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

constexpr std::int64_t kUsualMost = 10'000;
constexpr std::int64_t kMost = 10'000'000;
constexpr std::int64_t kFastest = 10'000;  // per second
constexpr std::size_t kSamples = 10;
constexpr std::size_t kSearchedAtOnce = 1000;
constexpr Millis kLongestBulkSearch{2000};

struct Action {
  std::string_view name;
  bool of_the_ended = false;
  std::optional<Outcome> ends_as{};  // live tasks
};

Result<std::vector<bool>> requeue(engine::Core& core, std::span<const TaskId> ids, TaskClass as) {
  return core.requeue(ids, as).map([](const std::vector<std::optional<TaskId>>& again) {
    std::vector<bool> done;
    done.reserve(again.size());
    for (const auto& id : again) done.push_back(id.has_value());
    return done;
  });
}

constexpr std::array kActions{Action{.name = "cancel", .ends_as = Outcome::cancelled},
                              Action{.name = "complete", .ends_as = Outcome::succeeded},
                              Action{.name = "fail", .ends_as = Outcome::rejected},
                              Action{.name = "requeue", .of_the_ended = true}, Action{.name = "retry"}};

const Action& action_of(const std::string& name) {
  std::string known;
  for (const Action& action : kActions) {
    if (action.name == name) return action;
    known.append(known.empty() ? "" : ", ").append(action.name);
  }
  throw Refusal{{422, "invalid", "$.action: unknown action \"" + name + "\"; known: " + known}};
}

// Reads the fields that belong to the action.
Bulk::Change change_of(engine::Core& core, const Action& action, Fields& fields) {
  using Ids = std::span<const TaskId>;
  const auto as_class = fields.task_class();
  if (as_class && !action.of_the_ended) {
    throw Refusal{{422, "invalid", "$.class is only for the action requeue"}};
  }
  if (action.ends_as) {
    task::Ending as{.outcome = *action.ends_as, .tell = !fields.flag("untold", false)};
    if (as.outcome == Outcome::rejected) as.error = reason_in(fields);
    return [&core, as](Ids ids) { return core.end(ids, as); };
  }
  if (fields.flag("untold", false)) {
    throw Refusal{{422, "invalid", "$.untold is only for the actions cancel, complete and fail"}};
  }
  if (action.of_the_ended) {
    // Many tasks at once must not hold up the tasks that are submitted meanwhile.
    const TaskClass as = as_class.value_or(TaskClass::background);
    return [&core, as](Ids ids) { return requeue(core, ids, as); };
  }
  return [&core](Ids ids) { return core.retry_now(ids); };
}

// `requeued` only adds tasks, and `failed=false` excludes none.
bool restricts(const Conditions::value_type& condition) {
  const auto& [name, value] = condition;
  return name != "requeued" && (name != "failed" || value == "true");
}

// The filter has the parameters of GET /v1/tasks and /v1/history. Empty: everything.
Conditions conditions_of(Fields& fields) {
  Conditions conditions;
  if (const auto filter = fields.find("filter")) {
    filter->expect(JsonKind::object);
    for (const auto [name, value] : filter->members()) conditions.emplace(name, value.as_string());
  }
  const bool everything = fields.flag("everything", false);
  const bool restricted = std::ranges::any_of(conditions, restricts);
  if (everything ? !conditions.empty() : !restricted) {
    throw Refusal{{422, "invalid",
                   everything ? "everything and a filter contradict each other"
                              : "without a filter this would change every task of the namespace",
                   "give a filter, or set \"everything\": true"}};
  }
  for (const auto& [name, value] : conditions) {
    if (name == "after" || name == "limit" || name == "order") {
      throw Refusal{{422, "invalid", "$.filter." + name + " is for paging; leave it out"}};
    }
    // In a list, an empty value means no restriction. Here it is more likely an unset variable in a script.
    if (value.empty()) throw Refusal{{422, "invalid", "$.filter." + name + " is empty; leave it out or give a value"}};
  }
  return conditions;
}

// The tasks that have waited longest are changed first.
TaskQuery bulk_query(const Conditions& conditions, bool finished) {
  TaskQuery query = task_query(conditions, finished);
  query.order = ListOrder::oldest_first;
  return query;
}

struct JobAnswer {
  std::string_view id;
  std::string_view action;
  Conditions filter;
  ShownText by;
  std::string state;
  std::int64_t matched = 0;
  bool complete = true;
  std::int64_t changed = 0;
  std::int64_t skipped = 0;
  std::optional<std::int64_t> per_second;
  std::optional<ShownText> error;
  ShownTime asked_at;
  std::optional<ShownTime> ended_at;
};
EASYRETRY_JSON(JobAnswer, id, action, filter, by, state, matched, complete, changed, skipped, per_second, error,
               asked_at, ended_at)

JobAnswer shown_job(const Bulk::Job& job) {
  return {.id = job.id,
          .action = job.action,
          .filter = job.filter,
          .by = {job.by},
          .state = name_of(job.state),
          .matched = job.matched,
          .complete = job.complete,
          .changed = job.changed,
          .skipped = job.skipped,
          .per_second = job.per_second > 0 ? std::optional{job.per_second} : std::nullopt,
          .error = if_any(job.error),
          .asked_at = job.asked_at,
          .ended_at = job.ended_at};
}

http::Response answer_of(const Bulk::Job& job, int status = 200) {
  return {.status = status, .body = to_json(shown_job(job))};
}

struct Matches {
  std::int64_t number = 0;
  bool complete = true;  // false: there may be more
  std::vector<ShownId> sample{};
};

// Keeps the last `kSamples` of all tasks that were found.
void keep_sample(std::vector<ShownId>& sample, const std::vector<task::TaskRecord>& found) {
  for (const task::TaskRecord& record : found) sample.emplace_back(record.info.id);
  if (sample.size() > kSamples) sample.erase(sample.begin(), sample.end() - kSamples);
}

// Finds all tasks, or stops when the time is over or more than `most` are found. No store is asked for a count: each
// would read all matching rows, which may be millions. The newest come first, because people usually mean tasks of the
// last hours, and there may be years of history before them.
Matches matches_of(engine::Core& core, TaskQuery query, std::int64_t most) {
  Matches found;
  query.limit = kSearchedAtOnce;
  query.order = ListOrder::newest_first;
  const Instant until = core.clock().steady() + kLongestBulkSearch;
  while (true) {
    const Millis left = std::chrono::ceil<Millis>(until - core.clock().steady());
    const storage::ListPage page = value_or_throw(core.page(query, left));
    found.number += static_cast<std::int64_t>(page.records.size());
    keep_sample(found.sample, page.records);
    found.complete = !page.next;
    if (found.complete || found.number > most || core.clock().steady() >= until) break;
    query.after = *page.next;
  }
  std::ranges::reverse(found.sample);
  return found;
}

void require_no_more_than(std::int64_t most, const Matches& found) {
  if (found.number <= most) return;
  throw Refusal{{422, "too_many",
                 std::string{"the filter finds "} + (found.complete ? "" : "at least ") + std::to_string(found.number) +
                     " tasks, more than \"most\", " + std::to_string(most),
                 "narrow the filter, or raise \"most\" if you mean all of them"}};
}

struct BulkPlan {
  std::string_view action;
  ShownTime created_until;
  std::int64_t matched = 0;
  bool complete = true;
  std::vector<ShownId> sample{};
  bool dry_run = true;
};
EASYRETRY_JSON(BulkPlan, action, created_until, matched, complete, sample, dry_run)

http::Response begin(const Call& call) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  engine::Core& core = call.name_space->core();
  const Action& action = action_of(fields.text("action"));
  Bulk::Change change = change_of(core, action, fields);
  Conditions conditions = conditions_of(fields);
  TaskQuery query = bulk_query(conditions, action.of_the_ended);
  const std::int64_t most = fields.number("most", kUsualMost, 1, kMost);
  const std::int64_t per_second = fields.find("per_second") ? fields.number("per_second", 0, 1, kFastest) : 0;
  const bool dry_run = fields.flag("dry_run", false);
  fields.end();
  // Tasks that this job creates, or that are submitted from now on, do not count.
  const TimePoint now = core.store_now() + Millis{1};
  query.created_at.until = std::min(now, query.created_at.until.value_or(now));
  Matches found = matches_of(core, query, dry_run ? kMost : most);
  if (dry_run) {
    return {.body = to_json(
                BulkPlan{action.name, *query.created_at.until, found.number, found.complete, std::move(found.sample)})};
  }
  require_no_more_than(most, found);
  Bulk::Order order{.action = std::string{action.name},
                    .query = std::move(query),
                    .matched = found.number,
                    .complete = found.complete,
                    .most = most,
                    .per_second = per_second,
                    .change = std::move(change),
                    .filter = std::move(conditions),
                    .by = call.by.name};
  return answer_of(call.name_space->bulk().begin(std::move(order)), 202);
}

Bulk::Job found(const std::optional<Bulk::Job>& job, const Call& call) {
  if (job) return *job;
  throw Refusal{{404, "not_found", "there is no job " + call.request.parameters.at("id") + " on this instance",
                 "only the instance that runs a job knows it, until it stops or 100 newer jobs have started"}};
}

http::Response show_job(const Call& call) {
  require_known(call.request, {});
  return answer_of(found(call.name_space->bulk().find(call.request.parameters.at("id")), call));
}

http::Response stop(const Call& call) {
  require_nothing(call.request);
  return answer_of(found(call.name_space->bulk().stop(call.request.parameters.at("id")), call));
}

struct JobList {
  std::vector<JobAnswer> jobs{};
};
EASYRETRY_JSON(JobList, jobs)

http::Response list_jobs(const Call& call) {
  require_known(call.request, {});
  const auto jobs = call.name_space->bulk().all();
  JobList answer;
  for (const Bulk::Job& job : jobs) answer.jobs.push_back(shown_job(job));
  return {.body = to_json(answer)};
}

}  // namespace

void add_bulk_endpoints(Api& api) {
  api.add(Method::post, "/v1/bulk", Right::operate, PlainEndpoint{begin});
  api.add(Method::get, "/v1/bulk", Right::view, PlainEndpoint{list_jobs});
  api.add(Method::get, "/v1/bulk/{id}", Right::view, PlainEndpoint{show_job});
  api.add(Method::post, "/v1/bulk/{id}/stop", Right::operate, PlainEndpoint{stop});
}

}  // namespace easyretry::server
