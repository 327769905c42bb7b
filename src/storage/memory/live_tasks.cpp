#include "storage/memory/live_tasks.h"

#include <utility>

#include "task/task_id.h"

namespace easyretry::storage {

using task::TaskRecord;

namespace {

LiveTasks::Due due_of(const TaskRecord& record) {
  return {record.info.next_at, record.info.id};
}

}  // namespace

const TaskRecord* LiveTasks::find(TaskId id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

const TaskRecord* LiveTasks::find(std::string_view space_name, std::string_view key) const {
  const Space* in = space(space_name);
  if (in == nullptr) return nullptr;
  const auto found = in->keys.find(key);
  return found == in->keys.end() ? nullptr : &rows_.at(found->second);
}

const LiveTasks::DueOrder& LiveTasks::due(std::string_view space_name, ShardId shard) const {
  static const DueOrder nothing;
  const Space* in = space(space_name);
  if (in == nullptr) return nothing;
  const auto found = in->due.find(shard);
  return found == in->due.end() ? nothing : found->second;
}

const TaskRecord& LiveTasks::add(TaskRecord record) {
  spaces_[record.info.space].keys.emplace(record.info.key, record.info.id);
  due_order(record).insert(due_of(record));
  const TaskId id = record.info.id;
  return rows_.emplace(id, std::move(record)).first->second;
}

const TaskRecord& LiveTasks::change(TaskId id, const std::function<void(TaskRecord&)>& change) {
  TaskRecord& record = rows_.at(id);
  const Due before = due_of(record);
  change(record);
  if (due_of(record) != before) {
    due_order(record).erase(before);
    due_order(record).insert(due_of(record));
  }
  return record;
}

TaskRecord LiveTasks::take(TaskId id) {
  TaskRecord record = std::move(rows_.extract(id).mapped());
  spaces_[record.info.space].keys.erase(record.info.key);
  due_order(record).erase(due_of(record));
  return record;
}

const LiveTasks::Space* LiveTasks::space(std::string_view name) const {
  const auto found = spaces_.find(name);
  return found == spaces_.end() ? nullptr : &found->second;
}

LiveTasks::DueOrder& LiveTasks::due_order(const TaskRecord& record) {
  return spaces_[record.info.space].due[task::shard_of(record.info.id)];
}

}  // namespace easyretry::storage
