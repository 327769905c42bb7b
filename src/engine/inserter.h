#pragma once
// Stores tasks and, if the reply was lost, finds out what happened to them. Safe to use from any thread.

#include <optional>
#include <span>
#include <vector>

#include "engine/context.h"

namespace easyretry::engine {

class Inserter {
 public:
  explicit Inserter(Context& context) : context_(context) {}

  // `in_doubt` if that cannot be found out, or the store cannot confirm it.
  Result<std::vector<storage::Inserted>> insert(std::span<const task::NewTask> tasks);

 private:
  struct Doubtful;
  using Ids = std::vector<TaskId>;
  using Stored = Result<std::vector<storage::Inserted>>;

  storage::InsertResult send(std::span<const task::NewTask> tasks);
  Stored resolve(const Doubtful& doubtful);
  Stored resolve_each(const Doubtful& doubtful);
  Stored with_ours(const Doubtful& doubtful, std::vector<storage::Inserted> answers);
  Result<std::optional<storage::Inserted>> look_for_any(const Doubtful& doubtful);
  Result<std::optional<storage::Inserted>> look(const task::NewTask& task, const Ids& ids);
  Stored confirmed(const storage::Inserted& found);

  Context& context_;
};

}  // namespace easyretry::engine
