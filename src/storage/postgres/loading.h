#pragma once
// What is due, and what else a load has to know. See sql::Session.

#include <optional>
#include <string>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

std::vector<sql::DueRow> due(Connection& db, const std::string& table, const sql::DueQuery& query);
sql::Glance glance(Connection& db, const LoadQuery& query, std::optional<TimePoint> now);
sql::DuePage load(Connection& db, const std::string& table, const LoadQuery& query, std::optional<TimePoint> now);

}  // namespace easyretry::storage::postgres
