#pragma once
// What transactions leave behind to be counted, retry_count_delta, is added to the totals, retry_count.
//
// Inside a transaction: rows are taken and added in it, so that it may be cut off anywhere, and several instances may
// fold at once. What one has taken, the others skip.

#include "storage/sql/session.h"

namespace easyretry::storage::sql {

// Each gives whether there is more.
bool fold_sums(Session& session);
bool fold_days(Session& session, TimePoint now);  // those that are no longer told apart

}  // namespace easyretry::storage::sql
