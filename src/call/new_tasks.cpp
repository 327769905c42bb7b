#include "call/new_tasks.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

#include <easyretry/detail/json_text.h>

#include "base/json_copy.h"
#include "base/traceparent.h"
#include "base/utf8.h"
#include "call/errors.h"
#include "engine/attempt.h"
#include "engine/error_text.h"
#include "policy/limits.h"

namespace easyretry::call {
namespace {

constexpr std::size_t kMaxKey = 255;  // what the SQL stores' key column holds
constexpr std::size_t kMaxTags = 8;
constexpr std::size_t kMaxTag = 64;

// The same for every store: PostgreSQL allows neither other bytes nor NUL in a text.
void check_text(const char* what, const std::string& text, std::size_t most) {
  if (text.size() > most) {
    throw std::invalid_argument(std::string{what} + " has " + std::to_string(text.size()) + " bytes; at most " +
                                std::to_string(most) + " are allowed");
  }
  if (const std::size_t at = std::min(base::invalid_utf8(text), text.find('\0')); at != std::string::npos) {
    throw std::invalid_argument(std::string{what} + " is not UTF-8, or has a NUL, at byte " + std::to_string(at) +
                                "; write other bytes as hex or base64");
  }
}

void check_payload(const std::string& payload, std::size_t most) {
  if (payload.size() <= most) return;
  throw std::invalid_argument("the arguments have " + std::to_string(payload.size()) + " bytes as JSON; at most " +
                              std::to_string(most) +
                              " are allowed. Store an id instead of the data, or raise EngineOptions::max_payload");
}

void check_tags(const std::vector<std::string>& tags) {
  if (tags.size() > kMaxTags) {
    throw std::invalid_argument(std::to_string(tags.size()) + " tags; at most 8 are allowed");
  }
  for (const std::string& tag : tags) {
    if (tag.empty()) throw std::invalid_argument("a tag is empty");
    check_text("a tag", tag, kMaxTag);
  }
}

void check(const detail::Submission& submission, std::size_t max_payload) {
  const SubmitOptions& asked = submission.options;
  check_payload(submission.payload, max_payload);
  check_text("the key", asked.key, kMaxKey);
  check_text("the business type", asked.business_type, kMaxKey);
  check_text("the business id", asked.business_id, kMaxKey);
  check_tags(asked.tags);
  if (!asked.traceparent.empty() && !base::read_traceparent(asked.traceparent)) {
    throw std::invalid_argument("traceparent is \"" + asked.traceparent +
                                "\"; the W3C form is 00-<32 hex digits>-<16 hex digits>-<2 hex digits>");
  }
  if (submission.delay < Millis{0} || submission.delay > policy::kLongestDelay) {
    throw std::invalid_argument("the delay is " + std::to_string(submission.delay.count()) + " ms; use 0 to ten years");
  }
}

// In the form that a submit here would store, so that equal arguments give equal keys.
std::string canonical_arguments(const std::string& text) {
  const JsonDocument document = JsonDocument::parse(text);
  document.root().expect(JsonKind::array);
  return base::canonical_json(document.root());
}

}  // namespace

task::NewTask new_task(const engine::Core& core, const engine::KnownHandler& known, detail::Submission submission,
                       std::optional<int> payload_version) {
  check(submission, core.live_options().max_payload);
  const detail::Handler& handler = known.handler;
  SubmitOptions& asked = submission.options;
  task::NewTask task;
  task.name_space = core.options().name_space;
  task.handler = handler.name;
  task.key = asked.key.empty() ? core.payloads().derive_key(task.handler, submission.payload) : std::move(asked.key);
  task.payload = std::move(submission.payload);
  task.payload_version = payload_version.value_or(handler.options.payload_version);
  task.business_type = std::move(asked.business_type);
  task.business_id = std::move(asked.business_id);
  task.tags = std::move(asked.tags);
  task.traceparent = std::move(asked.traceparent);
  task.task_class = asked.task_class.value_or(handler.options.task_class.value_or(TaskClass::normal));
  task.rules = known.rules;
  if (asked.deadline) task.rules.deadline = asked.deadline;
  task.due_at = asked.due_at;
  task.delay = submission.delay;
  task.on_duplicate = asked.on_duplicate;
  task.attempts = submission.attempts;
  task.error = engine::kept_error(submission.error);
  task.payload = value_or_throw(core.payloads().seal_arguments(task));
  return task;
}

TaskInfo describe(const engine::Core& core, const engine::KnownHandler& known, const SubmitOptions& options,
                  const std::optional<std::string>& arguments) {
  TaskInfo info;
  info.name_space = core.options().name_space;
  info.handler = known.handler.name;
  info.key = options.key;
  if (info.key.empty() && arguments) info.key = core.payloads().derive_key(info.handler, *arguments);
  info.business_type = options.business_type;
  info.business_id = options.business_id;
  info.tags = options.tags;
  info.traceparent = options.traceparent;
  info.task_class = options.task_class.value_or(known.handler.options.task_class.value_or(TaskClass::normal));
  return info;
}

tl::expected<task::NewTask, std::string> task_from(engine::Core& core, storage::InboxRow row) {
  const auto known = core.handlers().snapshot()->find(row.handler);
  if (known == nullptr) return tl::make_unexpected("no handler named \"" + row.handler + "\" is registered here");
  try {
    detail::Submission asked;
    asked.payload = canonical_arguments(row.payload);
    asked.options.key = std::move(row.key);
    asked.options.business_type = std::move(row.business_type);
    asked.options.business_id = std::move(row.business_id);
    asked.options.traceparent = std::move(row.traceparent);
    asked.options.due_at = row.due_at;
    return new_task(core, *known, std::move(asked));
  } catch (const JsonError& error) {
    return tl::make_unexpected("params_json is not a JSON array of arguments: " + std::string{error.what()});
  } catch (const std::invalid_argument& error) {
    return tl::make_unexpected(std::string{error.what()});
  }
}

}  // namespace easyretry::call
