#pragma once
// How tasks leave the tables of what is to be done, or go back to be done later.

#include <span>
#include <vector>

#include "storage/history.h"
#include "storage/sql/live_rows.h"

namespace easyretry::storage::sql {

// Inside a transaction. Each task is named once; gives the ids of those that it applied to. Throws MissingTable.
std::vector<TaskId> settle(Session& session, Tables& tables, History kept, std::span<const Settlement> settlements,
                           TimePoint now);
std::vector<TaskId> cancel(Session& session, Tables& tables, History kept, std::span<const TaskId> ids, Cancel how,
                           TimePoint now);

}  // namespace easyretry::storage::sql
