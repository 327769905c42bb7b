#pragma once

#include "storage/sqlite/connection.h"
#include "storage/sqlite/lookup.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// What was asked for: the rows of retry_call, and the entries they are found by. They are written once and left where
// they are, live or in history, until nothing speaks of the task any more. For use inside a write transaction.
class Calls {
 public:
  Calls(Connection& db, Lookup& lookup);

  void add(TaskId id, const NewTask& task, TimePoint now);
  void update_rules(TaskId id, const task::RetryRules& rules);
  // The same call as a new task. A deadline that has passed is left behind: it would end the task at once.
  void copy(TaskId from, TaskId to, TimePoint now);
  void remove(TaskId id);

 private:
  std::optional<Lookup::Entry> entry_of(TaskId id);

  Lookup& lookup_;
  Statement add_;
  Statement update_rules_;
  Statement copy_;
  Statement texts_;
  Statement remove_;
};

}  // namespace easyretry::storage::sqlite
