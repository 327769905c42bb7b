#pragma once

#include "storage/store.h"

namespace easyretry::storage {

// Whether a record meets every condition of the query. Paging, and the choice of live or finished tasks, are up to the
// caller.
bool matches(const TaskRecord& record, const TaskQuery& query);

}  // namespace easyretry::storage
