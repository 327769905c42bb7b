#pragma once

#include "storage/store.h"

namespace easyretry::storage {

// Whether a record meets every condition of the query; paging and the choice of live or finished are the caller's.
bool matches(const TaskRecord& record, const TaskQuery& query);

}  // namespace easyretry::storage
