#include "storage/mysql/inserts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "storage/mysql/columns.h"
#include "storage/mysql/literals.h"
#include "storage/mysql/pieces.h"
#include "storage/mysql/statements.h"

namespace easyretry::storage::mysql {
namespace {

using RowsInOrder = std::vector<const TaskRecord*>;

// In the order of the unique index: two batches with the same keys then wait for each other, and do not deadlock.
RowsInOrder by_key(std::span<const TaskRecord> rows) {
  RowsInOrder sorted;
  for (const TaskRecord& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, {}, [](const TaskRecord* row) { return std::tie(row->info.key, row->info.space); });
  return sorted;
}

std::vector<TaskId> ids_of(std::span<const TaskRecord* const> rows) {
  std::vector<TaskId> ids;
  for (const TaskRecord* row : rows) ids.push_back(row->info.id);
  return ids;
}

// The ids that are in the table under the key they were to get.
std::vector<TaskId> present(Connection& connection, const std::string& table, std::span<const TaskRecord* const> rows) {
  std::map<TaskId, const TaskRecord*> wanted;
  for (const TaskRecord* row : rows) wanted.emplace(row->info.id, row);
  std::vector<TaskId> ids;
  Rows found = connection.select(stored_keys(table, ids_of(rows)));
  while (found.next()) {
    const TaskInfo& info = wanted.at(TaskId{found.integer(0)})->info;
    if (found.text(1) == info.space && found.text(2) == info.key) ids.push_back(info.id);
  }
  return ids;
}

// Ids of tasks that have ended are not given again.
void leave_out_finished(Connection& connection, const std::string& history, RowsInOrder& rows) {
  std::unordered_set<TaskId> finished;
  const std::vector<TaskId> ids = ids_of(rows);
  by_pieces(std::span<const TaskId>{ids}, [&](std::span<const TaskId> piece) {
    Rows found = connection.select(stored_keys(history, piece));
    while (found.next()) finished.insert(TaskId{found.integer(0)});
  });
  std::erase_if(rows, [&](const TaskRecord* row) { return finished.contains(row->info.id); });
}

// What goes into which table.
struct Target {
  std::string table;
  std::string head;  // INSERT INTO …
  std::string (*values)(const TaskRecord& row);
};

std::vector<TaskId> insert_one_by_one(Connection& connection, const Target& target,
                                      std::span<const TaskRecord* const> rows) {
  std::vector<TaskId> stored;
  for (const TaskRecord* row : rows) {
    const std::string statement = connection.at_once() + target.head + target.values(*row) + insert_tail();
    if (connection.run(statement) == 1) stored.push_back(row->info.id);
  }
  return stored;
}

// The server says how many rows it took, not which. Those that are there under their ids are the ones; unless there are
// too many, because somebody else drew the same id for the same key.
std::vector<TaskId> insert_piece(Connection& connection, const Target& target, const Piece& piece,
                                 std::span<const TaskRecord* const> rows) {
  const std::uint64_t taken = connection.run_both("SAVEPOINT easyretry_insert", piece.statement);
  if (taken == rows.size()) return ids_of(rows);
  std::vector<TaskId> stored = present(connection, target.table, rows);
  if (stored.size() == taken) return stored;
  connection.run("ROLLBACK TO SAVEPOINT easyretry_insert");
  return insert_one_by_one(connection, target, rows);
}

std::vector<TaskId> insert(Connection& connection, const Target& target, const RowsInOrder& rows) {
  std::vector<std::string> values;
  for (const TaskRecord* row : rows) {
    check_lengths(*row);
    values.push_back(target.values(*row));
  }
  std::vector<TaskId> stored;
  const std::string head = connection.at_once() + target.head;
  for (const Piece& piece : cut_rows(head, values, insert_tail(), connection.most_bytes())) {
    const auto of_piece = std::span{rows}.subspan(piece.first, piece.count);
    std::ranges::copy(insert_piece(connection, target, piece, of_piece), std::back_inserter(stored));
  }
  return stored;
}

// Calls use(namespace, keys) for as many as a statement takes.
template <class Use>
void by_space(std::span<const TaskRecord> rows, Use use) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const TaskRecord& row : rows) keys[row.info.space].push_back(row.info.key);
  for (const auto& [space, of_space] : keys) {
    by_pieces(std::span<const std::string>{of_space},
              [&, &space = space](std::span<const std::string> piece) { use(space, piece); });
  }
}

}  // namespace

std::vector<TaskId> insert(Connection& connection, const std::string& table, const std::string& history,
                           std::span<const TaskRecord> rows) {
  RowsInOrder sorted = by_key(rows);
  if (!history.empty()) leave_out_finished(connection, history, sorted);
  return insert(connection, {table, insert_head(table), live_values}, sorted);
}

std::vector<sql::LiveKey> live_keys(Connection& connection, const std::string& table,
                                    std::span<const TaskRecord> keys) {
  std::vector<sql::LiveKey> live;
  by_space(keys, [&](const std::string& space, std::span<const std::string> piece) {
    Rows rows = connection.select(live_keys(table, space, piece) + connection.up_to_date());
    while (rows.next()) {
      const Inserted task{TaskId{rows.integer(0)}, rows.integer(1), from_ms(rows.integer(2))};
      live.push_back({space, std::string{rows.text(3)}, task});
    }
  });
  return live;
}

std::vector<TaskId> take_keys(Connection& connection, std::span<const TaskRecord> rows) {
  return insert(connection, {kKeyTable, take_keys_head(), key_values}, by_key(rows));
}

std::vector<sql::KeyHolder> key_holders(Connection& connection, std::span<const TaskRecord> keys) {
  std::vector<sql::KeyHolder> holders;
  by_space(keys, [&](const std::string& space, std::span<const std::string> piece) {
    Rows rows = connection.select(key_holders(space, piece) + connection.up_to_date());
    while (rows.next()) holders.push_back({space, std::string{rows.text(1)}, TaskId{rows.integer(0)}});
  });
  return holders;
}

void insert_history(Connection& connection, const std::string& history, std::span<const TaskRecord> rows) {
  std::vector<std::string> values;
  for (const TaskRecord& row : rows) {
    check_lengths(row);
    values.push_back(history_values(row));
  }
  for (const Piece& piece : cut_rows(insert_history_head(history), values, insert_tail(), connection.most_bytes())) {
    connection.run(piece.statement);
  }
}

}  // namespace easyretry::storage::mysql
