#pragma once
// New rows, and the keys that they take. See sql::Session.

#include <span>
#include <string>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/postgres/new_keys.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

std::vector<TaskId> insert(Connection& db, const std::string& table, const std::string& history,
                           std::span<const TaskRecord> rows, Duplicates duplicates);
std::vector<sql::LiveKey> live_keys(Connection& db, const std::string& table, std::span<const TaskRecord> keys);
std::vector<TaskId> take_keys(Connection& db, std::span<const TaskRecord> rows, Duplicates duplicates);
std::vector<sql::KeyHolder> key_holders(Connection& db, std::span<const TaskRecord> keys);
void insert_history(Connection& db, const std::string& history, std::span<const TaskRecord> rows);

}  // namespace easyretry::storage::postgres
