#pragma once
// Store::expire() on a server: history is walked in slices, by the index over the ends of tasks. Each slice is a
// transaction that also notes how far the walk has come (retry_retention). Any instance may walk at any time.

#include <span>
#include <string>
#include <vector>

#include "storage/retention.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

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
