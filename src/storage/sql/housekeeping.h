#pragma once
// Store::keep() on a server. Every step may be cut off anywhere, repeated, and done by several instances at once.

#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

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

}  // namespace easyretry::storage::sql
