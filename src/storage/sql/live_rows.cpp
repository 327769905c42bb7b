#include "storage/sql/live_rows.h"

#include <tuple>

#include "task/task_id.h"

namespace easyretry::storage::sql {
namespace {

std::vector<TaskRecord> rows_with(std::span<const TaskRecord> rows, const std::vector<TaskId>& ids) {
  const std::unordered_set<TaskId> wanted{ids.begin(), ids.end()};
  std::vector<TaskRecord> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
               [&](const TaskRecord& row) { return wanted.contains(row.info.id); });
  return some;
}

std::vector<TaskId> without(std::vector<TaskId> ids, const std::vector<TaskId>& taken) {
  const std::unordered_set<TaskId> gone{taken.begin(), taken.end()};
  std::erase_if(ids, [&](TaskId id) { return gone.contains(id); });
  return ids;
}

// Makes the rows of several tables look like those of one table.
void keep_first(std::vector<DueRow>& rows, std::size_t limit) {
  std::sort(rows.begin(), rows.end(), [](const DueRow& a, const DueRow& b) {
    return std::tie(a.shard, a.place, a.ticket.id) < std::tie(b.shard, b.place, b.ticket.id);
  });
  std::size_t of_shard = 0;
  ShardId shard{};
  std::erase_if(rows, [&](const DueRow& row) {
    if (row.shard != shard) of_shard = 0;
    shard = row.shard;
    return ++of_shard > limit;
  });
}

}  // namespace

std::vector<TaskId> LiveRows::insert(const std::string& history, std::span<const TaskRecord> rows) {
  std::vector<TaskId> stored = insert_uncounted(history, rows);
  const std::unordered_set<TaskId> there{stored.begin(), stored.end()};
  for (const TaskRecord& row : rows) {
    if (there.contains(row.info.id)) session_.sums().stored(row.info.name_space, row.info.handler, now_);
  }
  return stored;
}

std::vector<TaskId> LiveRows::insert_uncounted(const std::string& history, std::span<const TaskRecord> rows) {
  if (!tables_.several()) return store(history, rows);
  if (tables_.can_be_split()) {
    const std::string layout = session_.schema().hold_layout();
    tables_.learn(layout);
    require(layout);
  }
  const std::vector<TaskId> free = session_.take_keys(rows);
  const std::vector<TaskRecord> mine = rows_with(rows, free);
  std::vector<TaskId> stored = store(history, mine);
  if (stored.size() != free.size()) free_keys(without(free, stored));
  return stored;
}

// The comparison is with the layout of these rows: another thread may have learned a newer one since these rows
// were placed.
void LiveRows::require(const std::string& layout) const {
  if (layout != to_text(placement_)) throw LayoutChanged{};
}

std::vector<TaskId> LiveRows::store(const std::string& history, std::span<const TaskRecord> rows) {
  const TableRouter& router = placement_.router;
  if (!tables_.several()) return session_.insert(router.name({}), history, rows);
  Parts<TaskRecord> parts;
  for (const TaskRecord& row : rows) parts[router.table_of(row.info.id)].push_back(row);
  std::vector<TaskId> stored;
  for (const auto& [table, part] : parts) {
    const auto ids = session_.insert(tables_.required(router.name(table)), history, part);
    stored.insert(stored.end(), ids.begin(), ids.end());
  }
  return stored;
}

std::vector<LiveKey> LiveRows::with_keys_of(std::span<const TaskRecord> rows) {
  if (!tables_.several()) return session_.live_keys(placement_.router.name({}), rows);
  const std::vector<KeyHolder> holders = session_.key_holders(rows);
  const std::map<TaskId, TaskRecord> tasks = holding(holders);
  std::vector<LiveKey> live;
  std::vector<TaskId> gone;
  for (const KeyHolder& holder : holders) {
    const auto task = tasks.find(holder.task);
    if (task == tasks.end()) {
      gone.push_back(holder.task);
      continue;
    }
    const TaskInfo& info = task->second.info;
    live.push_back({holder.name_space, holder.key, {info.id, info.version, info.next_at, false}});
  }
  free_keys(gone);
  return live;
}

// Looks where the ids lead first; then, before a key counts as free, in every table.
std::map<TaskId, TaskRecord> LiveRows::holding(std::span<const KeyHolder> keys) {
  std::map<TaskId, TaskRecord> tasks;
  const auto open = [&] {
    std::vector<TaskId> ids;
    for (const KeyHolder& key : keys) {
      if (!tasks.contains(key.task)) ids.push_back(key.task);
    }
    return ids;
  };
  const auto add = [&](std::vector<TaskRecord> found) {
    for (TaskRecord& task : found) {
      const TaskId id = task.info.id;
      tasks.emplace(id, std::move(task));
    }
  };
  add(find(open()));
  if (tasks.size() == keys.size()) return tasks;
  for (const TableId table : tables_.tasks(session_)) {
    add(session_.find(placement_.router.name(table), false, open()));
  }
  return tasks;
}

void LiveRows::update_rules(std::span<const NewRules> updates) {
  if (updates.empty()) return;
  each(
      updates, [](const NewRules& update) { return update.ticket.id; },
      [this](const std::string& table, std::span<const NewRules> part) {
        session_.update_rules(table, part);
        return std::vector<TaskId>{};  // a missing task is not changed, so all tables may be asked
      });
}

void LiveRows::free_keys(std::span<const TaskId> ids) {
  if (!tables_.several() || ids.empty()) return;
  std::vector<TaskId> sorted{ids.begin(), ids.end()};
  std::sort(sorted.begin(), sorted.end());
  session_.remove("retry_task_key", sorted);
}

// A row that another transaction holds can still be read without a lock. A row that cannot be read has ended or moved.
std::unordered_set<TaskId> LiveRows::hold_all_but_busy(std::span<const TaskId> ids) {
  std::unordered_set<TaskId> busy;
  each(ids, std::identity{}, [&](const std::string& table, std::span<const TaskId> part) {
    std::vector<TaskId> there = session_.hold_free(table, part);
    if (there.size() == part.size()) return there;
    const std::vector<TaskId> others = without({part.begin(), part.end()}, there);
    for (const TaskRecord& record : session_.find(table, false, others)) {
      busy.insert(record.info.id);
      there.push_back(record.info.id);
    }
    return there;
  });
  return busy;
}

std::vector<TaskRecord> LiveRows::find(std::span<const TaskId> ids) {
  return each(ids, std::identity{}, [this](const std::string& table, std::span<const TaskId> part) {
    return session_.find(table, false, part);
  });
}

std::vector<DueRow> LiveRows::due(const DueQuery& query) {
  const TableRouter& router = placement_.router;
  if (!tables_.several()) return session_.due(router.name({}), query);
  std::vector<DueRow> rows;
  for (const TableId table : tables_.scanned(session_, now_)) {
    std::vector<ShardCursor> from;
    std::copy_if(query.from.begin(), query.from.end(), std::back_inserter(from),
                 [&](const ShardCursor& cursor) { return placement_.holds(table, cursor.shard); });
    if (from.empty()) continue;
    DueQuery of_table = query;
    of_table.from = from;
    auto due = session_.due(router.name(table), of_table);
    std::move(due.begin(), due.end(), std::back_inserter(rows));
  }
  keep_first(rows, query.limit);
  return rows;
}

}  // namespace easyretry::storage::sql
