#pragma once
// retry_count: the sums of tasks stored and ended. One connection writes at a time, so each transaction adds to the
// totals themselves.

#include <string_view>

#include "storage/counts.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

class CountTotals {
 public:
  explicit CountTotals(Connection& db);

  // Inside the transaction that did what is counted.
  void add(const Sums& sums);
  // Days that are no longer told apart become one.
  void join_days(TimePoint before);

 private:
  Connection& db_;
  Statement add_;
};

Counts read_counts(Connection& db, std::string_view space);

// Removes tasks, and counts that they have ended.
class CountedRemovals {
 public:
  CountedRemovals(Connection& db, Sums& sums);
  // Runs a statement that removes this task or nothing. True: it did, and is counted.
  bool run(Statement& removal, TaskId id, Outcome outcome, TimePoint now);
  bool run(Statement& removal, const Settlement& settlement, TimePoint now);

 private:
  Sums& sums_;
  Statement names_;
};

}  // namespace easyretry::storage::sqlite
