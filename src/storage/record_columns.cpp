#include "storage/record_columns.h"

#include <array>

#include <easyretry/json.h>

namespace easyretry::storage {
namespace {

constexpr const char* kColumns =
    "id, namespace, task_key, method_name, business_type, business_id, stage, outcome, attempt_count, crash_count, "
    "delivery_count, generation, version, created_at, next_retry_time, first_failed_at, last_error_time, "
    "last_error_msg, params_json, payload_version, max_attempts, max_retry_duration, deadline, backoff_strategy, "
    "result_json, callback_count, tags, traceparent, progress, ";

constexpr std::array kStates{TaskState::pending, TaskState::running, TaskState::finished};
constexpr std::array kStages{Stage::run, Stage::on_success, Stage::on_final_failure};
constexpr std::array kOutcomes{Outcome::succeeded,   Outcome::exhausted, Outcome::rejected,
                               Outcome::quarantined, Outcome::parked,    Outcome::cancelled};

template <class Names>
auto named(std::string_view text, const Names& all) -> std::optional<typename Names::value_type> {
  for (const auto one : all) {
    if (task::stored_name(one) == text) return one;
  }
  return std::nullopt;
}

}  // namespace

std::string live_columns() {
  return std::string{kColumns} + "status, locked_by, lease_until, NULL, NULL, task_class";
}
std::string finished_columns() {
  return std::string{kColumns} + "'FINISHED', NULL, 0, finished_at, requeued_as, task_class";
}

std::optional<TaskState> parse_state(std::string_view text) {
  return named(text, kStates);
}
std::optional<Stage> parse_stage(std::string_view text) {
  return named(text, kStages);
}
std::optional<Outcome> parse_outcome(std::string_view text) {
  return named(text, kOutcomes);
}

std::string tags_text(const std::vector<std::string>& tags) {
  return tags.empty() ? std::string{} : to_json(tags);
}

std::string tag_text(const std::string& tag) {
  return to_json(tag);
}

std::vector<std::string> parse_tags(std::string_view text) {
  if (text.empty()) return {};
  try {
    return from_json<std::vector<std::string>>(text);
  } catch (const JsonError&) {
    return {};
  }
}

}  // namespace easyretry::storage
