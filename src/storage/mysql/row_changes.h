#pragma once
// UPDATEs where each row has values of its own, sent as JSON and joined: one statement for all of them.

#include <span>
#include <string>
#include <vector>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

// [id,…] of JSON for each row, escaped for a statement, and what stands before and behind them all.
struct RowChanges {
  std::string head;
  std::vector<std::string> rows;
  std::string tail;
};

RowChanges retries(const std::string& table, std::span<const Settlement* const> settlements, TimePoint now);
RowChanges advances(const std::string& table, std::span<const Settlement* const> settlements, TimePoint now);
RowChanges hand_backs(const std::string& table, std::span<const Settlement* const> settlements, TimePoint now);
// Each of them with progress.
RowChanges renewals(const std::string& table, std::span<const Renewal* const> renewals, TimePoint now);
RowChanges new_rules(const std::string& table, std::span<const sql::NewRules> updates);

}  // namespace easyretry::storage::mysql
