#include "storage/memory/live_tasks.h"

#include <algorithm>
#include <utility>

#include "base/later.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage {

using task::TaskRecord;

namespace {

// By the same condition as the claim, at the time when the claim would come.
bool claimable(const TaskRecord& record, TimePoint now) {
  const Ticket seen{record.info.id, record.info.version};
  return task::claim_event(record, seen, std::max(now, record.info.next_at)).has_value();
}

// Walks the due order of each shard from its cursor and stops at the end of the window.
class WindowScan {
 public:
  WindowScan(const LiveTasks& live, const LoadQuery& query, TimePoint now)
      : live_(live), query_(query), until_(base::later(now, query.ahead)) {
    reply_.now = now;
  }

  void scan(const ShardCursor& from) {
    const auto& due = live_.due(query_.name_space, from.shard);
    std::size_t room = query_.limit;
    for (auto it = due.upper_bound({from.place, from.id}); it != due.end() && it->next_at <= until_; ++it) {
      if (room == 0) break;
      const TaskRecord& record = *live_.find(it->id);
      if (!claimable(record, reply_.now)) continue;
      add(record);
      if (--room == 0) reply_.more.push_back({.shard = from.shard, .place = it->next_at, .id = it->id});
    }
  }

  LoadReply take() { return std::move(reply_); }

 private:
  void add(const TaskRecord& record) {
    const TaskInfo& info = record.info;
    reply_.tasks.push_back({{info.id, info.version},
                            info.next_at,
                            handler_index(info.handler),
                            suspicion_byte(task::suspicion(record)),
                            info.task_class,
                            task::is_retried(record)});
  }

  std::uint32_t handler_index(const std::string& name) {
    const auto [found, fresh] = index_.try_emplace(name, static_cast<std::uint32_t>(index_.size()));
    if (fresh) reply_.handlers.push_back(name);
    return found->second;
  }

  const LiveTasks& live_;
  const LoadQuery& query_;
  const TimePoint until_;
  LoadReply reply_;
  std::map<std::string_view, std::uint32_t> index_;
};

LiveTasks::Due due_of(const TaskRecord& record) {
  return {record.info.next_at, record.info.id};
}

}  // namespace

const TaskRecord* LiveTasks::find(TaskId id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

const TaskRecord* LiveTasks::find(std::string_view namespace_name, std::string_view key) const {
  const Namespace* in = name_space(namespace_name);
  if (in == nullptr) return nullptr;
  const auto found = in->keys.find(key);
  return found == in->keys.end() ? nullptr : &rows_.at(found->second);
}

const LiveTasks::DueOrder& LiveTasks::due(std::string_view namespace_name, ShardId shard) const {
  static const DueOrder nothing;
  const Namespace* in = name_space(namespace_name);
  if (in == nullptr) return nothing;
  const auto found = in->due.find(shard);
  return found == in->due.end() ? nothing : found->second;
}

const TaskRecord& LiveTasks::add(TaskRecord record) {
  namespaces_[record.info.name_space].keys.emplace(record.info.key, record.info.id);
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
  namespaces_[record.info.name_space].keys.erase(record.info.key);
  due_order(record).erase(due_of(record));
  return record;
}

const LiveTasks::Namespace* LiveTasks::name_space(std::string_view name) const {
  const auto found = namespaces_.find(name);
  return found == namespaces_.end() ? nullptr : &found->second;
}

LiveTasks::DueOrder& LiveTasks::due_order(const TaskRecord& record) {
  return namespaces_[record.info.name_space].due[task::shard_of(record.info.id)];
}

LoadReply LiveTasks::load(const LoadQuery& query, TimePoint now) const {
  WindowScan scan{*this, query, now};
  for (const ShardCursor& from : query.from) scan.scan(from);
  return scan.take();
}

}  // namespace easyretry::storage
