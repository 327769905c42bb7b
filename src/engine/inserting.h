#pragma once
// Stores tasks and, where that is in doubt, finds out what became of them. Safe to use from any thread.

#include <optional>
#include <span>
#include <vector>

#include "engine/context.h"

namespace easyretry::engine {

class Inserting {
 public:
  explicit Inserting(Context& context) : context_(context) {}

  // `in_doubt` where nobody can say, or the store cannot make sure.
  Result<std::vector<storage::Inserted>> insert(std::span<const task::NewTask> tasks);

 private:
  struct Found {
    storage::Inserted task;
    bool live = false;
  };
  using Stored = Result<std::vector<storage::Inserted>>;

  Stored send(std::span<const task::NewTask> tasks);
  Stored resolve(std::span<const task::NewTask> tasks, TimePoint since);
  Result<bool> is_any_stored(std::span<const task::NewTask> tasks, TimePoint since);
  Stored resolve_each(std::span<const task::NewTask> tasks, TimePoint since);
  Stored resolve(const task::NewTask& task, TimePoint since);
  Result<std::optional<Found>> look(const task::NewTask& task, TimePoint since);
  Stored confirmed(const Found& found);

  Context& context_;
};

}  // namespace easyretry::engine
