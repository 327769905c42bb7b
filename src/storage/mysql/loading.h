#pragma once
// What is due, and what else a load has to know. See sql::Session.

#include <optional>
#include <string>
#include <vector>

#include "storage/mysql/connection.h"
#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

std::vector<sql::DueRow> due(Connection& connection, const std::string& table, const sql::DueQuery& query);
sql::Glance glance(Connection& connection, const LoadQuery& query, std::optional<TimePoint> now);
sql::DuePage load(Connection& connection, const std::string& table, const LoadQuery& query,
                  std::optional<TimePoint> now);

}  // namespace easyretry::storage::mysql
