// MysqlSession: new rows, and their keys.

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "storage/mysql/session.h"
#include "storage/mysql/statements.h"
#include "storage/mysql/values.h"

namespace easyretry::storage::mysql {
namespace {

using RowsInOrder = std::vector<const TaskRecord*>;

// In the order of the unique index: two batches with the same keys then wait for each other, and do not deadlock.
RowsInOrder by_key(std::span<const TaskRecord> rows) {
  RowsInOrder sorted;
  for (const TaskRecord& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, {},
                           [](const TaskRecord* row) { return std::tie(row->info.key, row->info.name_space); });
  return sorted;
}

std::vector<TaskId> ids_of(std::span<const TaskRecord* const> rows) {
  std::vector<TaskId> ids;
  for (const TaskRecord* row : rows) ids.push_back(row->info.id);
  return ids;
}

Rows select_stored_keys(Connection& connection, const std::string& table, std::span<const TaskId> ids) {
  return connection.select(statements::stored_keys.with({{"table", table}, {"ids", id_list(ids)}}));
}

// The ids of the rows that the table has with the same id and key.
std::vector<TaskId> present(Connection& connection, const std::string& table, std::span<const TaskRecord* const> rows) {
  std::map<TaskId, const TaskRecord*> wanted;
  for (const TaskRecord* row : rows) wanted.emplace(row->info.id, row);
  std::vector<TaskId> ids;
  Rows found = select_stored_keys(connection, table, ids_of(rows));
  while (found.next()) {
    const TaskInfo& info = wanted.at(TaskId{found.integer(0)})->info;
    if (found.text(1) == info.name_space && found.text(2) == info.key) ids.push_back(info.id);
  }
  return ids;
}

// Ids of tasks that have ended are not used again.
void leave_out_finished(Connection& connection, const std::string& history, RowsInOrder& rows) {
  std::unordered_set<TaskId> finished;
  const std::vector<TaskId> ids = ids_of(rows);
  by_pieces(std::span<const TaskId>{ids}, [&](std::span<const TaskId> piece) {
    Rows found = select_stored_keys(connection, history, piece);
    while (found.next()) finished.insert(TaskId{found.integer(0)});
  });
  std::erase_if(rows, [&](const TaskRecord* row) { return finished.contains(row->info.id); });
}

// Rows for one table. The statement has kRows.
class InsertBatch {
 public:
  using ToValues = std::string (*)(const TaskRecord& row);

  InsertBatch(Connection& connection, std::string table, const std::string& statement, ToValues to_values)
      : connection_(connection),
        table_(std::move(table)),
        statement_(connection.at_once() + statement),
        to_values_(to_values) {}

  // Returns the ids of the stored rows.
  std::vector<TaskId> store(const RowsInOrder& rows) {
    std::vector<std::string> values;
    for (const TaskRecord* row : rows) {
      check_lengths(*row);
      values.push_back(to_values_(*row));
    }
    std::vector<TaskId> stored;
    for (const Piece& piece : cut_rows(statement_, values, connection_.most_bytes())) {
      const auto of_piece = std::span{rows}.subspan(piece.first, piece.count);
      std::ranges::copy(store(piece, of_piece), std::back_inserter(stored));
    }
    return stored;
  }

 private:
  // The server says how many rows it stored, but not which. They are the rows that are found under their ids. If these
  // are too many, another instance has drawn the same id for the same key.
  std::vector<TaskId> store(const Piece& piece, std::span<const TaskRecord* const> rows) {
    const std::uint64_t taken = connection_.run_both("SAVEPOINT easyretry_insert", piece.statement);
    if (taken == rows.size()) return ids_of(rows);
    std::vector<TaskId> stored = present(connection_, table_, rows);
    if (stored.size() == taken) return stored;
    connection_.run("ROLLBACK TO SAVEPOINT easyretry_insert");
    return store_one_by_one(rows);
  }

  std::vector<TaskId> store_one_by_one(std::span<const TaskRecord* const> rows) {
    std::vector<TaskId> stored;
    for (const TaskRecord* row : rows) {
      const std::string values = to_values_(*row);
      const Piece piece = cut_rows(statement_, {&values, 1}, connection_.most_bytes()).at(0);
      if (connection_.run(piece.statement) == 1) stored.push_back(row->info.id);
    }
    return stored;
  }

  Connection& connection_;
  std::string table_;
  std::string statement_;
  ToValues to_values_;
};

// Calls use(namespace, keys as a list) for as many keys as one statement takes.
template <class Use>
void by_namespace(std::span<const TaskRecord> rows, Use use) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const TaskRecord& row : rows) keys[row.info.name_space].push_back(row.info.key);
  for (const auto& [name_space, of_namespace] : keys) {
    by_pieces(
        std::span<const std::string>{of_namespace},
        [&, &name_space = name_space](std::span<const std::string> piece) { use(name_space, list_of(piece, bytes)); });
  }
}

}  // namespace

std::vector<TaskId> MysqlSession::insert(const std::string& table, const std::string& history,
                                         std::span<const TaskRecord> rows) {
  RowsInOrder sorted = by_key(rows);
  if (!history.empty()) leave_out_finished(connection_, history, sorted);
  const std::string statement = statements::insert_tasks.with({{"table", table}, {"rows", kRows}});
  return InsertBatch{connection_, table, statement, live_values}.store(sorted);
}

std::vector<sql::LiveKey> MysqlSession::live_keys(const std::string& table, std::span<const TaskRecord> keys) {
  std::vector<sql::LiveKey> live;
  by_namespace(keys, [&](const std::string& name_space, const std::string& list) {
    Rows rows = connection_.select(statements::live_keys.with(
        {{"table", table}, {"namespace", bytes(name_space)}, {"keys", list}, {"lock", connection_.up_to_date()}}));
    while (rows.next()) {
      const Inserted task{TaskId{rows.integer(0)}, rows.integer(1), from_ms(rows.integer(2))};
      live.push_back({name_space, std::string{rows.text(3)}, task});
    }
  });
  return live;
}

std::vector<TaskId> MysqlSession::take_keys(std::span<const TaskRecord> rows) {
  const std::string statement = statements::take_keys.with({{"rows", kRows}});
  return InsertBatch{connection_, kKeyTable, statement, key_values}.store(by_key(rows));
}

std::vector<sql::KeyHolder> MysqlSession::key_holders(std::span<const TaskRecord> keys) {
  std::vector<sql::KeyHolder> holders;
  by_namespace(keys, [&](const std::string& name_space, const std::string& list) {
    Rows rows = connection_.select(statements::key_holders.with(
        {{"namespace", bytes(name_space)}, {"keys", list}, {"lock", connection_.up_to_date()}}));
    while (rows.next()) holders.push_back({name_space, std::string{rows.text(1)}, TaskId{rows.integer(0)}});
  });
  return holders;
}

void MysqlSession::insert_history(const std::string& history, std::span<const TaskRecord> rows) {
  std::vector<std::string> values;
  for (const TaskRecord& row : rows) {
    check_lengths(row);
    values.push_back(history_values(row));
  }
  const std::string statement = statements::insert_history.with({{"history", history}, {"rows", kRows}});
  for (const Piece& piece : cut_rows(statement, values, connection_.most_bytes())) connection_.run(piece.statement);
}

}  // namespace easyretry::storage::mysql
