#pragma once
// The store that an import fills, and messages as tasks of it. Throws StoreError.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mxrmq/message.h"
#include "storage/store.h"

namespace easyretry::mxrmq {

class ImportTarget {
 public:
  ImportTarget(storage::Store& store, std::string space) : store_(store), space_(std::move(space)) {}

  // The topic is the handler, the id the key. Refuses an id that is too long to be one.
  task::NewTask task_of(const std::string& id, const Message& message) const;

  std::vector<storage::Inserted> insert(std::span<const task::NewTask> tasks);
  // Fails where one of them has been changed by somebody else.
  void settle(std::span<const task::Settlement> settlements);
  std::optional<task::TaskRecord> live(const std::string& id) { return with_key(id, false); }
  std::optional<task::TaskRecord> ended(const std::string& id) { return with_key(id, true); }
  std::size_t count_found(std::span<const TaskId> tasks);

 private:
  std::optional<task::TaskRecord> with_key(const std::string& id, bool finished);

  storage::Store& store_;
  const std::string space_;
};

}  // namespace easyretry::mxrmq
