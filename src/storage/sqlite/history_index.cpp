#include "storage/sqlite/history_index.h"

#include "task/task_id.h"

namespace easyretry::storage::sqlite {
namespace {

std::string slice_of(const std::string& time) {
  return time + " / " + std::to_string(kSlice.count());
}

std::string id_slice() {
  const TimePoint first = task::created_at(TaskId{});
  const auto ids_a_millisecond = static_cast<std::int64_t>(task::make_task_id(first + Millis{1}, ShardId{}, 0));
  return slice_of("(id / " + std::to_string(ids_a_millisecond) + " + " +
                  std::to_string(first.time_since_epoch().count()) + ")");
}

std::string create_index(const std::string& name, const std::string& on) {
  return "CREATE INDEX IF NOT EXISTS " + name + " ON " + on + ";";
}

}  // namespace

std::string ended_late() {
  return "(" + finished_slice() + " - " + id_slice() + ") NOT IN (0, 1)";
}

std::string stored_out_of_order() {
  return "(" + id_slice() + " - " + slice_of("created_at") + ") NOT IN (0, 1)";
}

std::string finished_slice() {
  return slice_of("finished_at");
}

std::string kinds_index(const std::string& month) {
  return month + "_kinds";
}

std::string late_index(const std::string& month) {
  return month + "_late";
}

std::string create_history_indexes(const std::string& month) {
  // The rows of late tasks lie far apart: the usual conditions are answered without them.
  const std::string late = finished_slice() + ", id, namespace, method_name, outcome, finished_at";
  return create_index(kinds_index(month), month + " (namespace, method_name, outcome)") +
         create_index(late_index(month), month + " (" + late + ") WHERE " + ended_late());
}

std::string create_call_index() {
  return create_index(kOutOfOrderIndex, "retry_call (created_at) WHERE " + stored_out_of_order());
}

}  // namespace easyretry::storage::sqlite
