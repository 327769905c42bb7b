#include "storage/mysql/columns.h"

#include "base/utf8.h"
#include "storage/mysql/literals.h"
#include "storage/server/server_error.h"
#include "task/task_id.h"

namespace easyretry::storage::mysql {
namespace {

constexpr std::string_view kCarried =
    "id, namespace, task_key, method_name, business_type, business_id, stage, attempt_count, crash_count, "
    "delivery_count, generation, created_at, next_retry_time, params_json, payload_version, max_attempts, "
    "max_retry_duration, deadline, backoff_strategy, result_json, callback_count, tags, traceparent, progress";
constexpr std::string_view kSettled = ", version, outcome, first_failed_at, last_error_time, last_error_msg";

class Values {
 public:
  Values& add(std::string_view literal) {
    text_.append(text_.size() > 1 ? "," : "").append(literal);
    return *this;
  }
  Values& add(std::int64_t value) { return add(literal(value)); }
  Values& add(TimePoint time) { return add(literal(time)); }
  std::string done() { return std::move(text_.append(")")); }

 private:
  std::string text_ = "(";
};

// kCarried and kSettled.
Values shared_values(const task::TaskRecord& record) {
  const TaskInfo& info = record.info;
  Values values;
  values.add(number(info.id)).add(bytes(info.space)).add(bytes(info.key)).add(bytes(info.handler));
  values.add(bytes_or_null(info.business_type)).add(bytes_or_null(info.business_id));
  values.add("'" + std::string{to_string(info.stage)} + "'").add(info.attempts).add(info.crashes);
  values.add(info.deliveries).add(info.generation).add(info.created_at).add(info.next_at);
  values.add(bytes(record.payload)).add(record.payload_version).add(record.rules.max_attempts);
  values.add(record.rules.max_duration.count()).add(maybe_time(record.rules.deadline));
  values.add(bytes_or_null(record.rules.backoff)).add(bytes_or_null(record.result)).add(record.callback_attempts);
  const std::string tags = tags_text(info.tags);
  values.add(tags.empty() ? "NULL" : characters(tags));
  values.add(bytes_or_null(info.traceparent)).add(bytes_or_null(info.progress));
  values.add(info.version).add(name_or_null(info.outcome)).add(maybe_time(info.first_failed_at));
  return values.add(maybe_time(info.last_failed_at)).add(error_or_null(info.last_error));
}

}  // namespace

void check_length(std::string_view value, const ByteLimit& limit) {
  if (value.size() <= limit.bytes) return;
  throw server::ServerError(server::Trouble::bad_data,
                            std::string{limit.column} + " has " + std::to_string(value.size()) +
                                " bytes, but its column allows " + std::to_string(limit.bytes) + ": \"" +
                                std::string{base::cut_utf8(value, 60)} + "…\"");
}

void check_lengths(const task::TaskRecord& record) {
  check_length(record.info.space, kSpaceLimit);
  check_length(record.info.key, kKeyLimit);
  check_length(record.info.handler, kHandlerLimit);
  check_length(record.info.business_type, kBusinessTypeLimit);
  check_length(record.info.business_id, kBusinessIdLimit);
  check_length(record.info.traceparent, kTraceparentLimit);
  check_length(record.info.progress, kProgressLimit);
  check_length(tags_text(record.info.tags), kTagsLimit);
  check_length(record.rules.backoff, kBackoffLimit);
  check_length(record.locked_by, kOwnerLimit);
}

std::string_view carried_columns() {
  return kCarried;
}

std::string live_insert_columns() {
  return std::string{kCarried}.append(kSettled) + ", status, locked_by, locked_at, lease_until, shard, updated_at";
}

std::string history_insert_columns() {
  return std::string{kCarried}.append(kSettled) + ", finished_at";
}

std::string live_values(const task::TaskRecord& record) {
  Values values = shared_values(record);
  values.add("'" + std::string{to_string(record.info.state)} + "'").add(bytes_or_null(record.locked_by));
  values.add(record.locked_by.empty() ? "NULL" : literal(record.info.created_at)).add(record.lease_until);
  return values.add(static_cast<std::int64_t>(task::shard_of(record.info.id))).add(record.info.created_at).done();
}

std::string history_values(const task::TaskRecord& record) {
  return shared_values(record).add(record.info.finished_at.value_or(record.info.next_at)).done();
}

std::string name_or_null(const std::optional<Outcome>& outcome) {
  return outcome ? "'" + std::string{to_string(*outcome)} + "'" : "NULL";
}

std::string error_or_null(std::string_view error) {
  return error.empty() ? "NULL" : characters(base::cut_utf8(error, kErrorBytes));
}

}  // namespace easyretry::storage::mysql
