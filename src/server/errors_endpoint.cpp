// /v1/errors: the newest failures by kind.
//
// The store has no index of errors, so tasks are read, the newest first, until the bound, the time or the tasks are
// used up (storage/task_walk.h). The answer says how many failures were read, and whether these were all.

#include <algorithm>

#include "call/errors.h"
#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/error_groups.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "task/error_kind.h"

namespace easyretry::server {
namespace {

constexpr std::int64_t kMostFailures = 10'000;
constexpr Millis kLongestWalk{2000};
constexpr std::size_t kPage = 500;
constexpr std::size_t kMostGroups = 1000;

struct GroupAnswer {
  std::string fingerprint;
  std::string text;
  std::int64_t count = 0;
  ShownTime first_seen;
  ShownTime last_seen;
  std::vector<std::string> handlers;
  std::vector<std::int64_t> by_hour;
  std::vector<ShownId> ids{};
};
EASYRETRY_JSON(GroupAnswer, fingerprint, text, count, first_seen, last_seen, handlers, by_hour, ids)

struct ErrorsAnswer {
  std::vector<GroupAnswer> groups{};
  std::int64_t scanned = 0;
  bool complete = true;
};
EASYRETRY_JSON(ErrorsAnswer, groups, scanned, complete)

// Reads failures, the newest first.
class FailureWalk {
 public:
  // `query` with the handler; `from`: only failures since then.
  FailureWalk(engine::Core& core, TaskQuery query, TimePoint from, Millis within)
      : core_(core),
        query_(std::move(query)),
        from_(from),
        ends_(core.clock().steady() + within),
        groups_(core.store_now()) {
    query_.failed = true;
    query_.limit = kPage;
    query_.order = ListOrder::newest_first;
    if (query_.finished && from_ > TimePoint{}) query_.finished_at.from = from_;
  }

  void run() {
    while (true) {
      const Millis left = std::chrono::ceil<Millis>(ends_ - core_.clock().steady());
      const storage::ListPage page = call::value_or_throw(core_.page(query_, left));
      for (const task::TaskRecord& record : page.records) take(record.info);
      complete_ = !page.next;
      if (complete_ || scanned_ >= kMostFailures || core_.clock().steady() >= ends_) return;
      query_.after = *page.next;
    }
  }

  const ErrorGroups& groups() const { return groups_; }
  std::int64_t scanned() const { return scanned_; }
  bool complete() const { return complete_; }

 private:
  void take(const TaskInfo& info) {
    const TimePoint at = (query_.finished ? info.finished_at : info.last_failed_at).value_or(info.created_at);
    if (at < from_) return;
    groups_.add(info, at);
    ++scanned_;
  }

  engine::Core& core_;
  TaskQuery query_;
  const TimePoint from_;
  const Instant ends_;
  ErrorGroups groups_;
  std::int64_t scanned_ = 0;
  bool complete_ = false;
};

// Conditions that lists also have are read in the same way.
TaskQuery query_of(const Conditions& asked, bool finished) {
  Conditions conditions;
  for (const char* name : {"handler", "limit"}) {
    if (const auto found = asked.find(name); found != asked.end()) conditions.insert(*found);
  }
  return task_query(conditions, finished);
}

bool of_history(const Conditions& asked) {
  const auto of = asked.find("of");
  if (of == asked.end() || of->second == "history") return true;
  if (of->second == "tasks") return false;
  throw Refusal{{422, "invalid", "the parameter of: unknown value \"" + of->second + "\"; known: history, tasks"}};
}

TimePoint from_of(const Conditions& asked) {
  const auto from = asked.find("from");
  if (from == asked.end() || from->second.empty()) return {};
  try {
    return base::parse_time(from->second);
  } catch (const std::invalid_argument& e) {
    throw Refusal{{422, "invalid", std::string{"the parameter from: "} + e.what()}};
  }
}

// 0: the longest time that is allowed.
Millis time_of(const Conditions& asked) {
  const Millis within = millis(asked, "within_ms", kLongestWalk);
  return within == Millis{0} ? kLongestWalk : within;
}

http::Response errors(const Call& call) {
  require_known(call.request, {"of", "handler", "from", "limit", "within_ms"});
  const Conditions& asked = call.request.target.query;
  const TaskQuery query = query_of(asked, of_history(asked));
  FailureWalk walk{call.name_space->core(), query, from_of(asked), time_of(asked)};
  walk.run();
  ErrorsAnswer answer{.scanned = walk.scanned(), .complete = walk.complete()};
  for (ErrorGroup& group : walk.groups().largest(std::min(query.limit, kMostGroups))) {
    GroupAnswer& one = answer.groups.emplace_back(GroupAnswer{task::fingerprint_of(group.kind),
                                                              group.kind,
                                                              group.count,
                                                              group.first_seen,
                                                              group.last_seen,
                                                              {group.handlers.begin(), group.handlers.end()},
                                                              {group.by_hour.begin(), group.by_hour.end()}});
    one.ids.assign(group.ids.begin(), group.ids.end());
  }
  return {.body = to_json(answer)};
}

}  // namespace

void add_errors_endpoint(Api& api) {
  api.add(http::Method::get, "/v1/errors", Right::view, PlainEndpoint{errors});
}

}  // namespace easyretry::server
