#pragma once
// Claims, settlements and renewals: first the rows that may be changed are locked, then they are changed.

#include <span>
#include <string>
#include <vector>

#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

std::vector<TaskRecord> claim(Connection& connection, const std::string& table, const ClaimRequest& request,
                              TimePoint now);
std::vector<sql::EndedRow> finish(Connection& connection, const std::string& table, const std::string& history,
                                  std::span<const Settlement> settlements, TimePoint now);
std::vector<TaskId> reschedule(Connection& connection, const std::string& table,
                               std::span<const Settlement> settlements, TimePoint now);
std::vector<TaskId> renew(Connection& connection, const std::string& table, std::span<const Renewal> renewals,
                          TimePoint now);
void update_rules(Connection& connection, const std::string& table, std::span<const sql::NewRules> updates);

}  // namespace easyretry::storage::mysql
