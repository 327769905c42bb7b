#pragma once
// The live tasks, with two indexes: one live task per (namespace, key), and the tasks of a shard in the order of their
// due times. Not thread-safe: the store's mutex guards it.

#include <compare>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

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
  const task::TaskRecord* find(std::string_view space, std::string_view key) const;
  const DueOrder& due(std::string_view space, ShardId shard) const;
  const ById& by_id() const { return rows_; }

  // Requires that neither its id nor its key is live. References stay valid until the task is removed.
  const task::TaskRecord& add(task::TaskRecord record);
  // The change may move next_at; it must not touch id, space or key, by which the indexes find the row.
  const task::TaskRecord& change(TaskId id, const std::function<void(task::TaskRecord&)>& change);
  task::TaskRecord take(TaskId id);

 private:
  struct Space {
    std::map<std::string, TaskId, std::less<>> keys;
    std::map<ShardId, DueOrder> due;
  };

  const Space* space(std::string_view name) const;
  DueOrder& due_order(const task::TaskRecord& record);

  ById rows_;
  std::map<std::string, Space, std::less<>> spaces_;
};

}  // namespace easyretry::storage
