#pragma once
// The rows of live tasks, in one table or several, as one session sees them.
//
// With several tables, no index covers all keys. So retry_task_key has the key of every live task; the transaction that
// stores or ends the task takes or frees it.

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "storage/history.h"
#include "storage/sql/session.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::sql {

class LiveRows {
 public:
  LiveRows(Session& session, Tables& tables, TimePoint now)
      : session_(session), tables_(tables), placement_(tables.placement()), now_(now) {}

  // Returns the ids of the rows stored. A row is left out if a live row has the same key or id, or a row in `history`
  // (empty: not looked at) has the same id. Throws MissingTable and LayoutChanged.
  std::vector<TaskId> insert(const std::string& history, std::span<const TaskRecord> rows);
  // Returns the keys that are live. Frees a key whose task is in no table (the database was edited manually).
  std::vector<LiveKey> with_keys_of(std::span<const TaskRecord> rows);
  void update_rules(std::span<const NewRules> updates);  // each task once
  // For tasks that have ended.
  void free_keys(std::span<const TaskId> ids);

  // Calls body(table, part) for the tables that the tasks may be in, in the order in which rows move, until it has
  // returned all of them, as a vector of ids or records. Each entry of the batch names a different task. Throws
  // LayoutChanged if some may be in other tables by now.
  template <class T, class IdOf, class Body>
  auto each(std::span<const T> batch, IdOf id_of, Body body);

  // task_changes.cpp. Each task is named once. These return the ids of the tasks that were changed. Throw MissingTable.
  std::vector<TaskId> settle(std::span<const Settlement> settlements, History kept);
  std::vector<TaskId> end(std::span<const Ending> endings, History kept);
  // Tasks that wait get another due time or other rules.
  std::vector<TaskId> revise(std::span<const Revision> revisions);

  // Locks the rows that no other transaction holds. Returns the ids of the other rows.
  std::unordered_set<TaskId> hold_all_but_busy(std::span<const TaskId> ids);
  std::vector<TaskRecord> find(std::span<const TaskId> ids);
  // Each shard once, in order of (next_at, id). `limit` is per shard, whatever the number of its tables.
  std::vector<DueRow> due(const DueQuery& query);

 private:
  template <class T>
  using Parts = std::map<TableId, std::vector<T>>;

  static TaskId id_in(TaskId id) { return id; }
  static TaskId id_in(const TaskRecord& record) { return record.info.id; }
  std::vector<TaskId> insert_uncounted(const std::string& history, std::span<const TaskRecord> rows);
  std::vector<TaskId> store(const std::string& history, std::span<const TaskRecord> rows);
  std::map<TaskId, TaskRecord> holding(std::span<const KeyHolder> keys);
  void require(const std::string& layout) const;  // throws LayoutChanged if these rows go by another layout

  Session& session_;
  Tables& tables_;
  const Placement placement_;
  const TimePoint now_;
};

template <class T, class IdOf, class Body>
auto LiveRows::each(std::span<const T> batch, IdOf id_of, Body body) {
  const TableRouter& router = placement_.router;
  if (!tables_.several()) return body(router.name({}), batch);

  decltype(body(std::string{}, batch)) all;
  std::unordered_set<TaskId> met;
  const auto ask = [&](const Parts<T>& parts) {
    for (const auto& [table, entries] : parts) {
      if (!tables_.exists(session_, table, now_)) continue;
      std::vector<T> part;
      std::copy_if(entries.begin(), entries.end(), std::back_inserter(part),
                   [&](const T& entry) { return !met.contains(id_of(entry)); });
      if (part.empty()) continue;
      for (auto& found : body(router.name(table), std::span<const T>{part})) {
        met.insert(id_in(found));
        all.push_back(std::move(found));
      }
    }
  };
  Parts<T> left, own, moved;
  for (const T& entry : batch) {
    if (const auto table = placement_.left_by(id_of(entry))) left[*table].push_back(entry);
    own[router.table_of(id_of(entry))].push_back(entry);
    for (const TableId table : router.moved_to(id_of(entry), now_)) moved[table].push_back(entry);
  }
  ask(left);
  ask(own);
  ask(moved);
  if (met.size() < batch.size()) {
    if (const auto layout = tables_.look_again(session_)) require(*layout);
  }
  return all;
}

}  // namespace easyretry::storage::sql
