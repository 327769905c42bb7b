#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

std::vector<TaskId> insert(Connection& connection, const std::string& table, const std::string& history,
                           std::span<const TaskRecord> rows);
std::vector<sql::LiveKey> live_keys(Connection& connection, const std::string& table, std::span<const TaskRecord> keys);
std::vector<TaskId> take_keys(Connection& connection, std::span<const TaskRecord> rows);
std::vector<sql::KeyHolder> key_holders(Connection& connection, std::span<const TaskRecord> keys);
void insert_history(Connection& connection, const std::string& history, std::span<const TaskRecord> rows);

}  // namespace easyretry::storage::mysql
