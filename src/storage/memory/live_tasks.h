#pragma once
// The live tasks, with two indexes: one live task per (namespace, key), and the tasks of a shard in the order of their
// due times. Not thread-safe: the store's mutex guards it.

#include <compare>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "storage/store.h"
#include "task/record.h"

namespace easyretry::storage {

class LiveTasks {
 public:
  struct Due {
    TimePoint next_at;
    TaskId id;
    friend auto operator<=>(const Due&, const Due&) = default;
  };
  using DueOrder = std::set<Due>;
  using ById = std::map<TaskId, task::TaskRecord>;

  const task::TaskRecord* find(TaskId id) const;
  const task::TaskRecord* find(std::string_view name_space, std::string_view key) const;
  const DueOrder& due(std::string_view name_space, ShardId shard) const;
  const ById& by_id() const { return rows_; }
  // The due tasks of some shards, as Store::load().
  LoadReply load(const LoadQuery& query, TimePoint now) const;

  // Requires that neither its id nor its key is live. References stay valid until the task is removed.
  const task::TaskRecord& add(task::TaskRecord record);
  // The change may move next_at; it must not touch id, namespace or key, by which the indexes find the row.
  const task::TaskRecord& change(TaskId id, const std::function<void(task::TaskRecord&)>& change);
  task::TaskRecord take(TaskId id);

 private:
  struct Namespace {
    std::map<std::string, TaskId, std::less<>> keys;
    std::map<ShardId, DueOrder> due;
  };

  const Namespace* name_space(std::string_view name) const;
  DueOrder& due_order(const task::TaskRecord& record);

  ById rows_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
};

}  // namespace easyretry::storage
