#pragma once

#include <span>

#include "storage/counts.h"
#include "storage/history.h"
#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/count_totals.h"
#include "storage/sqlite/history_tables.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// The write side of `settle`.
class Settlements {
 public:
  Settlements(Connection& db, Calls& calls, HistoryTables& tables, History history, Sums& sums);
  Applied settle(std::span<const Settlement> settlements, TimePoint now);

 private:
  bool settle_one(const Settlement& settlement, TimePoint now);
  bool hand_back(const Settlement& settlement, TimePoint now);
  bool finish(const Settlement& settlement, TimePoint now);
  bool forget(const Settlement& settlement, TimePoint now);

  Calls& calls_;
  HistoryTables& tables_;
  const History history_;
  CountedRemovals removals_;
  Statement retry_;
  Statement advance_;
  Statement hand_back_;
  Statement hand_back_later_;
  Statement forget_;
  Statement remove_;
};

}  // namespace easyretry::storage::sqlite
