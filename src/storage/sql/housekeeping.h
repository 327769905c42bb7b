#pragma once
// What keep() does on a server. Every step may be cut off anywhere, repeated, and done by several instances at once.

#include "storage/sql/writes.h"

namespace easyretry::storage::sql {

class Housekeeping {
 public:
  Housekeeping(Pool& pool, Tables& tables, Writes& writes, int keep_months)
      : pool_(pool), tables_(tables), writes_(writes), keep_months_(keep_months) {}

  // Throws ServerError where nothing could be done.
  KeepReport keep(TimePoint now, const std::string& where);

 private:
  void take_steps(TimePoint now, const std::string& where, KeepReport& report);
  void make_ahead(TimePoint now, KeepReport& report);
  void empty_what_leaves(TimePoint now, const std::string& where, KeepReport& report);
  bool emptied(TableId table, TimePoint now, const std::string& where, KeepReport& report);
  void join_days(TimePoint now, const std::string& where, KeepReport& report);
  void drop_old_history(TimePoint now, KeepReport& report);
  static void note(Session& session, KeepStep step, TimePoint now, KeepReport& report);

  Pool& pool_;
  Tables& tables_;
  Writes& writes_;
  const int keep_months_;
};

}  // namespace easyretry::storage::sql
