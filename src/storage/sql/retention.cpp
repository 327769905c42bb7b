#include "storage/sql/retention.h"

#include <algorithm>

namespace easyretry::storage::sql {
namespace {

// The number of rows that a transaction looks at: a few milliseconds.
constexpr std::size_t kRowsASlice = 1000;
// The number of slices in a call. The next call does the rest, so that no caller waits for long.
constexpr int kSlicesACall = 20;

// The first tasks of the walk, complete up to `end`.
struct Slice {
  std::vector<EndedAt> tasks;
  TimePoint end;
};

// A batch of settlements ends its tasks in the same millisecond. If more than a slice of tasks have ended in one, the
// slice includes them all.
Slice read_slice(Session& session, const std::string& history, const Walk& walk) {
  for (std::size_t limit = kRowsASlice;; limit *= 4) {
    Slice slice{session.ledger().ended(history, walk, limit), walk.until};
    if (slice.tasks.size() < limit) return slice;
    slice.end = slice.tasks.back().finished_at;
    if (slice.end == slice.tasks.front().finished_at) continue;
    std::erase_if(slice.tasks, [&](const EndedAt& task) { return task.finished_at == slice.end; });
    return slice;
  }
}

}  // namespace

Result<bool> RetentionSweep::run(std::span<const Retention> rules, TimePoint now) {
  const auto marks = reads_.run(where_, [](Session& session) { return session.ledger().retention_marks(); });
  if (!marks) return tl::make_unexpected(marks.error());
  int slices = 0;
  for (Walk& walk : walks(rules, *marks, now)) {
    while (walk.from < walk.until) {
      if (++slices > kSlicesACall) return true;
      const auto next = writes_.run(where_, Promise::unneeded, Locks::waited_for,
                                    [&](Session& session, TimePoint) { return slice(session, walk); });
      if (!next) return tl::make_unexpected(next.error());
      walk.from = *next;
    }
  }
  return false;
}

TimePoint RetentionSweep::slice(Session& session, const Walk& walk) {
  TimePoint next = walk.until;
  const std::vector<std::string> newest_first = tables_.histories(session);
  for (auto table = newest_first.rbegin(); table != newest_first.rend(); ++table) {
    const Period month = *month_of_history_table(*table);
    Walk here = walk;
    here.from = std::max(walk.from, begin_of(month));
    here.until = std::min(walk.until, end_of(month));
    if (here.from >= here.until) continue;
    next = remove(session, *table, here);
    break;
  }
  session.ledger().mark_retention(walk, next);
  return next;
}

TimePoint RetentionSweep::remove(Session& session, const std::string& history, const Walk& walk) {
  const Slice slice = read_slice(session, history, walk);
  std::vector<TaskId> ids;
  for (const EndedAt& task : slice.tasks) {
    if (task.expires) ids.push_back(task.id);
  }
  std::sort(ids.begin(), ids.end());
  if (ids.empty()) return slice.end;
  walk.what == Expiry::tasks ? session.remove(history, ids) : session.ledger().remove_arguments(history, ids);
  return slice.end;
}

}  // namespace easyretry::storage::sql
