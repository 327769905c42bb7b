#pragma once

#include <string>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// The page of a query without key and business id, out of these months, by ascending id. However many rows there are,
// few are read that do not belong to it; docs/decisions/027-pages-of-a-long-history.md says how.
std::vector<TaskRecord> search_history(Connection& db, const TaskQuery& query, const std::vector<std::string>& months);

}  // namespace easyretry::storage::sqlite
