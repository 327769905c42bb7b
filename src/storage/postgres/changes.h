#pragma once
// Changes of rows that are there, many at a time. See sql::Session.

#include <span>
#include <string>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/postgres/new_keys.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

void update_rules(Connection& db, const std::string& table, std::span<const sql::NewRules> updates);
std::vector<TaskRecord> claim(Connection& db, const std::string& table, const ClaimRequest& request, TimePoint now);
std::vector<sql::EndedRow> finish(Connection& db, const std::string& table, const std::string& history,
                                  std::span<const Settlement> settlements, TimePoint now, Duplicates duplicates);
std::vector<TaskId> reschedule(Connection& db, const std::string& table, std::span<const Settlement> settlements,
                               TimePoint now);
std::vector<TaskId> renew(Connection& db, const std::string& table, std::span<const Renewal> renewals, TimePoint now);
void hold(Connection& db, const std::string& table, std::span<const TaskId> ids);
std::vector<TaskRecord> lock(Connection& db, const std::string& table, std::span<const TaskId> ids);
std::vector<TaskRecord> lock_history(Connection& db, const std::string& table, std::span<const TaskId> ids);
void mark_requeued(Connection& db, const std::string& table, std::span<const sql::Requeued> requeued);
void update(Connection& db, const std::string& table, std::span<const TaskRecord> rows, TimePoint now);
void remove(Connection& db, const std::string& table, std::span<const TaskId> ids);
sql::Moved move(Connection& db, const sql::Move& move);

}  // namespace easyretry::storage::postgres
