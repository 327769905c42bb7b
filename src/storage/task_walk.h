#pragma once
// Lists by conditions that no index serves: TaskQuery::failed and the ones after it, and on some stores the handler,
// the state and the outcome.
//
// Tasks are read in slices of a bounded size, in the order of the query, until the page is full or the time is up. So a
// page may have fewer tasks than its limit, even none, and says where to continue.

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "storage/store.h"

namespace easyretry::storage {

// Whether the query has a condition that no store has an index for. Neither list() nor count() checks these.
bool needs_walk(const TaskQuery& query);
// Whether this store would have to read an unknown number of tasks for one page.
bool needs_walk(const TaskQuery& query, const StoreInfo& store);

// The outcomes of TaskQuery::failed.
inline constexpr std::array kFailures{Outcome::exhausted, Outcome::rejected, Outcome::quarantined, Outcome::parked};
inline bool asks_for_failures(const TaskQuery& query) {
  return query.failed || !query.error.empty();
}

// Sets `next` if the page is full.
inline auto as_page_of(const TaskQuery& query) {
  return [limit = query.limit](std::vector<TaskRecord> page) {
    ListPage whole{.records = std::move(page)};
    whole.scanned = static_cast<std::int64_t>(whole.records.size());
    if (limit > 0 && whole.records.size() >= limit) whole.next = whole.records.back().info.id;
    return whole;
  };
}

// One page of any query. With such a condition, reads one slice at least, and more while the page is not full and it is
// before `until`.
Result<ListPage> list_page(Store& store, const TaskQuery& query, const Clock& clock, Instant until);

}  // namespace easyretry::storage
