#include "server/task_requests.h"

#include <limits>

#include "base/json_copy.h"
#include "call/new_tasks.h"
#include "policy/decide.h"
#include "policy/limits.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostTasks = 10'000;
constexpr std::int64_t kMostAttempts = 1'000'000;
constexpr std::size_t kMostOwnerBytes = 200;
constexpr std::size_t kMostTags = 64;  // a task may have fewer; call::new_task() checks that

OnDuplicate on_duplicate(const std::string& text) {
  if (text == "keep") return OnDuplicate::keep;
  if (text == "update_policy") return OnDuplicate::update_policy;
  if (text == "reject") return OnDuplicate::reject;
  throw Refusal{{422, "invalid", "on_duplicate is \"" + text + "\"; use keep, update_policy or reject"}};
}

detail::Submission submission(Fields& fields) {
  detail::Submission asked;
  const auto given = fields.find("args");
  asked.payload = given ? arguments_text(*given) : "[]";
  asked.options.key = fields.text("key");
  asked.options.on_duplicate = on_duplicate(fields.text("on_duplicate", "keep"));
  asked.options.business_type = fields.text("business_type");
  asked.options.business_id = fields.text("business_id");
  asked.options.tags = fields.texts("tags", kMostTags);
  asked.options.traceparent = fields.text("traceparent");
  asked.options.task_class = fields.task_class();
  asked.options.deadline = fields.time("deadline");
  asked.options.due_at = fields.time("due_at");
  const auto delay = fields.millis("delay_ms", policy::kLongestDelay);
  if (delay && asked.options.due_at) {
    throw Refusal{{422, "invalid", "due_at and delay_ms both set the due time; give one of them"}};
  }
  asked.delay = delay.value_or(Millis{0});
  asked.attempts = static_cast<int>(fields.number("attempts", 0, 0, kMostAttempts));
  asked.error = fields.text("error");
  return asked;
}

std::optional<int> payload_version(Fields& fields) {
  constexpr std::int64_t kNone = 0;
  const auto version = fields.number("payload_version", kNone, 1, std::numeric_limits<int>::max());
  return version == kNone ? std::nullopt : std::optional{static_cast<int>(version)};
}

// A member that the policy leaves out stays as configured for the handler: otherwise a submission with its own backoff
// would be retried for ever. 0 is no limit. The same members as in GET /v1/tasks; the deadline is separate.
void read_policy(JsonView object, task::RetryRules& rules) {
  Fields fields{object};
  rules.max_attempts = static_cast<int>(fields.number("max_attempts", rules.max_attempts, 0, kMostAttempts));
  rules.max_duration = fields.millis("max_duration_ms", policy::kLongestDelay).value_or(rules.max_duration);
  if (const auto backoff = fields.find("backoff")) {
    rules.backoff = policy::to_text(policy::parse_backoff(backoff->as_string()));
  }
  fields.end();
}

// The submitter makes the next attempt itself: it holds the task until the lease expires.
void read_lease(Fields& fields, task::NewTask& task) {
  const auto lease = fields.millis("lease_ms", kLongestLease);
  const std::string owner = fields.text("owner");
  if (owner.empty() == lease.has_value()) {
    throw Refusal{{422, "invalid", "owner and lease_ms must be given together"}};
  }
  if (!lease) return;
  if (owner.size() > kMostOwnerBytes || owner.find('\0') != std::string::npos) {
    throw Refusal{{422, "invalid", "owner must have at most 200 bytes and no NUL"}};
  }
  if (task.due_at || task.delay > Millis{0}) {
    throw Refusal{{422, "invalid", "a task with a lease is due now; leave out due_at and delay_ms"}};
  }
  task.owner = owner;
  task.lease = *lease;
}

task::NewTask submitted_task(Namespace& name_space, JsonView object) {
  Fields fields{object};
  const std::string handler{fields.need("handler").as_string()};
  task::NewTask task =
      call::new_task(name_space.core(), *name_space.handler(handler), submission(fields), payload_version(fields));
  if (const auto policy = fields.find("policy")) read_policy(*policy, task.rules);
  read_lease(fields, task);
  fields.end();
  return task;
}

}  // namespace

std::string arguments_text(JsonView given) {
  if (given.kind() == JsonKind::array) return base::canonical_json(given);
  return "[" + base::canonical_json(given) + "]";
}

SubmittedTasks submitted_tasks(Namespace& name_space, JsonView body) {
  SubmittedTasks submitted;
  body.expect(JsonKind::object);
  if (!body.find("tasks")) {
    submitted.tasks.push_back(submitted_task(name_space, body));
    return submitted;
  }
  submitted.one = false;
  Fields fields{body};
  const JsonView list = fields.need("tasks");
  fields.end();
  list.expect(JsonKind::array);
  if (list.size() == 0 || list.size() > kMostTasks) {
    throw Refusal{
        {422, "invalid", "tasks has " + std::to_string(list.size()) + " entries; send 1 to 10,000 at a time"}};
  }
  for (std::size_t i = 0; i < list.size(); ++i) submitted.tasks.push_back(submitted_task(name_space, list.at(i)));
  return submitted;
}

PolicyPatch::PolicyPatch(JsonView object) {
  Fields fields{object};
  if (fields.find("max_attempts")) {
    max_attempts_ = static_cast<int>(fields.number("max_attempts", 0, 0, std::numeric_limits<int>::max()));
  }
  max_duration_ = fields.millis("max_duration_ms", policy::kLongestDelay);
  if (object.find("deadline")) deadline_ = fields.time("deadline");
  if (fields.find("backoff")) backoff_ = policy::to_text(policy::parse_backoff(fields.text("backoff")));
  fields.end();
  if (!max_attempts_ && !max_duration_ && !deadline_ && !backoff_) {
    throw Refusal{{422, "invalid", object.path() + ": nothing to change",
                   "give max_attempts, max_duration_ms, deadline or backoff"}};
  }
  validate(Policy{.stop = {.max_attempts = max_attempts_.value_or(0)}});
}

task::RetryRules PolicyPatch::applied_to(task::RetryRules rules) const {
  if (max_attempts_) rules.max_attempts = *max_attempts_;
  if (max_duration_) rules.max_duration = *max_duration_;
  if (deadline_) rules.deadline = *deadline_;
  if (backoff_) rules.backoff = *backoff_;
  return rules;
}

}  // namespace easyretry::server
