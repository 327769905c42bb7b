#pragma once
// Store::keep() and Store::expire() on a server. Every step may be cut off anywhere, repeated, and done by several
// instances at once.

#include <span>
#include <string>
#include <vector>

#include "storage/retention.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

// Store::keep().
class Housekeeping {
 public:
  Housekeeping(Pool& pool, Tables& tables, Writes& writes, int keep_months)
      : pool_(pool), tables_(tables), writes_(writes), keep_months_(keep_months) {}

  // Throws ServerError if nothing could be done.
  KeepReport keep(TimePoint now, const std::string& where);

 private:
  void take_steps(TimePoint now, const std::string& where, KeepReport& report);
  void make_ahead(TimePoint now, KeepReport& report);
  void empty_what_leaves(TimePoint now, const std::string& where, KeepReport& report);
  bool emptied(TableId table, TimePoint now, const std::string& where, KeepReport& report);
  void join_days(TimePoint now, const std::string& where, KeepReport& report);
  void drop_old_history(TimePoint now, KeepReport& report);
  void drop_old_results(TimePoint now, const std::string& where, KeepReport& report);
  static void note(Session& session, KeepStep step, TimePoint now, KeepReport& report);

  Pool& pool_;
  Tables& tables_;
  Writes& writes_;
  const int keep_months_;
};

// Adds what transactions have left in retry_count_delta to the totals in retry_count.
//
// Inside a transaction, which takes rows and adds them. So it may be cut off anywhere, and several instances may fold
// at once: each skips the rows that another has taken. Both return whether there is more to fold.
bool fold_sums(Session& session);
bool fold_days(Session& session, TimePoint now);  // merges days that are too old to be counted one by one

// Store::expire(): history is walked in slices, by the index over the ends of tasks. Each slice is a transaction that
// also notes how far the walk has come (retry_retention).
class RetentionSweep {
 public:
  RetentionSweep(Tables& tables, Reads& reads, Writes& writes, std::string where)
      : tables_(tables), reads_(reads), writes_(writes), where_(std::move(where)) {}

  // Returns whether there is more.
  Result<bool> run(std::span<const Retention> rules, TimePoint now);

 private:
  // Returns where the next slice begins.
  TimePoint slice(Session& session, const Walk& walk);
  static TimePoint remove(Session& session, const std::string& history, const Walk& walk);

  Tables& tables_;
  Reads& reads_;
  Writes& writes_;
  const std::string where_;
};

}  // namespace easyretry::storage::sql
