#include "storage/task_walk.h"

#include <algorithm>

#include "task/error_kind.h"

namespace easyretry::storage {
namespace {

// A slice is small at first, because a record may have arguments of a megabyte, and grows while few tasks match.
constexpr std::size_t kSmallest = 100;
constexpr std::size_t kLargest = 1000;

bool has_failed(const TaskInfo& info) {
  if (info.state != TaskState::finished) return !info.last_error.empty();
  return info.outcome && std::ranges::find(kFailures, *info.outcome) != kFailures.end();
}

bool has_error(const TaskInfo& info, const std::string& fingerprint) {
  return fingerprint.empty() || task::fingerprint_of(task::kind_of(info.last_error)) == fingerprint;
}

bool has_tag(const TaskInfo& info, const std::string& tag) {
  return tag.empty() || std::ranges::find(info.tags, tag) != info.tags.end();
}

// The error comes last: it costs the most.
bool is_wanted(const TaskRecord& record, const TaskQuery& query) {
  const TaskInfo& info = record.info;
  const bool live = info.state != TaskState::finished;
  if (query.due_at.restricts() && !(live && query.due_at.contains(info.next_at))) return false;
  if (!query.owner.empty() && !(live && record.locked_by == query.owner)) return false;
  if (query.task_class && query.task_class != info.task_class) return false;
  return info.attempts >= query.attempts_from && has_tag(info, query.tag) &&
         (!asks_for_failures(query) || (has_failed(info) && has_error(info, query.error)));
}

bool matches_all(const TaskRecord& record, const TaskQuery& query) {
  return matches(record, query) && is_wanted(record, query);
}

// Conditions that may match nearly every task or hardly any. In the latter case a single statement would read millions
// of rows before it returns.
bool is_rare_or_common(const TaskQuery& query) {
  const bool has_index = !query.key.empty() || !query.business_id.empty();
  return !has_index && (!query.handler.empty() || query.state || query.outcome || !query.business_type.empty());
}

}  // namespace

bool needs_walk(const TaskQuery& query) {
  return asks_for_failures(query) || query.attempts_from > 0 || query.due_at.restricts() || !query.owner.empty() ||
         !query.tag.empty() || query.task_class.has_value();
}

bool needs_walk(const TaskQuery& query, const StoreInfo& store) {
  return needs_walk(query) || (!store.indexes_handlers && is_rare_or_common(query));
}

Result<ListPage> list_page(Store& store, const TaskQuery& query, const Clock& clock, Instant until) {
  if (query.limit == 0 || !needs_walk(query, store.info())) return store.list(query).map(as_page_of(query));
  ListPage page;
  TaskQuery rest = query;
  for (rest.limit = std::clamp(query.limit, kSmallest, kLargest);;) {
    auto slice = store.scan(rest);
    if (!slice) return slice;
    page.scanned += slice->scanned;
    const std::size_t before = page.records.size();
    for (TaskRecord& record : slice->records) {
      if (!matches_all(record, query)) continue;
      page.records.push_back(std::move(record));
      if (page.records.size() < query.limit) continue;
      page.next = page.records.back().info.id;
      return page;
    }
    if (!slice->next) return page;
    rest.after = *slice->next;
    if (clock.steady() >= until) {
      page.next = slice->next;
      return page;
    }
    if (page.records.size() - before < rest.limit / 4) rest.limit = std::min(rest.limit * 2, kLargest);
  }
}

}  // namespace easyretry::storage
