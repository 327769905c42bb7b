#pragma once
// Tasks that wait get another due time, or other rules.

#include <span>
#include <vector>

#include "storage/sql/live_rows.h"

namespace easyretry::storage::sql {

// Inside a transaction. Each task is named once; gives the ids of those that it applied to.
std::vector<TaskId> revise(Session& session, Tables& tables, std::span<const Revision> revisions, TimePoint now);

}  // namespace easyretry::storage::sql
