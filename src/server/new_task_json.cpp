#include "server/new_task_json.h"

#include "base/json_copy.h"
#include "call/new_tasks.h"
#include "policy/limits.h"
#include "server/fields.h"
#include "server/refusal.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kMostTasks = 10'000;
constexpr std::size_t kMostTags = 64;  // what is too many for a task is said by whoever makes it

OnDuplicate on_duplicate(const std::string& text) {
  if (text == "keep") return OnDuplicate::keep;
  if (text == "update_policy") return OnDuplicate::update_policy;
  if (text == "reject") return OnDuplicate::reject;
  throw Refusal{{422, "invalid", "on_duplicate is \"" + text + "\"; use keep, update_policy or reject"}};
}

// One argument may stand for itself: {"args": {"order": 7}} is [{"order": 7}].
std::string arguments(const std::optional<JsonView>& given) {
  if (!given) return "[]";
  if (given->kind() == JsonKind::array) return base::canonical_json(*given);
  return "[" + base::canonical_json(*given) + "]";
}

task::NewTask wanted_task(Space& space, JsonView object) {
  Fields fields{object};
  const std::string handler{fields.need("handler").as_string()};
  detail::Submission asked;
  asked.payload = arguments(fields.find("args"));
  asked.options.key = fields.text("key");
  asked.options.on_duplicate = on_duplicate(fields.text("on_duplicate", "keep"));
  asked.options.business_type = fields.text("business_type");
  asked.options.business_id = fields.text("business_id");
  asked.options.tags = fields.texts("tags", kMostTags);
  asked.options.traceparent = fields.text("traceparent");
  asked.options.deadline = fields.time("deadline");
  asked.options.due_at = fields.time("due_at");
  const auto delay = fields.millis("delay_ms", policy::kLongestDelay);
  asked.delay = delay.value_or(Millis{0});
  fields.end();
  if (delay && asked.options.due_at) {
    throw Refusal{{422, "invalid", "due_at and delay_ms both say when; give one of them"}};
  }
  return call::new_task(space.core().context(), *space.handler(handler), std::move(asked));
}

}  // namespace

WantedTasks wanted_tasks(Space& space, JsonView body) {
  WantedTasks wanted;
  body.expect(JsonKind::object);
  if (!body.find("tasks")) {
    wanted.tasks.push_back(wanted_task(space, body));
    return wanted;
  }
  wanted.one = false;
  Fields fields{body};
  const JsonView list = fields.need("tasks");
  fields.end();
  list.expect(JsonKind::array);
  if (list.size() == 0 || list.size() > kMostTasks) {
    throw Refusal{
        {422, "invalid", "tasks has " + std::to_string(list.size()) + " entries; send 1 to 10,000 at a time"}};
  }
  for (std::size_t i = 0; i < list.size(); ++i) wanted.tasks.push_back(wanted_task(space, list.at(i)));
  return wanted;
}

}  // namespace easyretry::server
