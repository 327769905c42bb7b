#include "storage/sqlite/queries.h"

#include <algorithm>
#include <set>

#include "storage/sqlite/columns.h"
#include "storage/sqlite/count_totals.h"
#include "storage/sqlite/history_search.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/loader.h"
#include "storage/sqlite/pauses.h"
#include "storage/sqlite/query_sql.h"
#include "storage/sqlite/snapshot.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr int kCacheKib = 4 * 1024;

std::vector<std::string> tables_of(const TaskQuery& query, Connection& db) {
  if (!query.finished) return {"retry_state"};
  std::vector<std::string> months = history_tables(db);
  std::erase_if(months, [&](const std::string& table) { return !overlaps(*month_of_table(table), query.finished_at); });
  return months;
}

// Runs body(table, part) for every place where tasks like these may be.
template <class Body>
void for_each_source(const TaskQuery& query, const QuerySql& sql, Connection& db, Body body) {
  for (const std::string& table : tables_of(query, db)) {
    for (const QuerySql::Part part : sql.parts()) body(table, part);
  }
}

void add_page(Statement& page, std::vector<TaskRecord>& to) {
  Rows rows{page};
  while (rows.next()) to.push_back(read_record(page));
}

// The first `limit` by id out of several pages that are each in order.
void keep_first(std::vector<TaskRecord>& records, std::size_t limit) {
  std::sort(records.begin(), records.end(),
            [](const TaskRecord& a, const TaskRecord& b) { return a.info.id < b.info.id; });
  if (records.size() > limit) records.erase(records.begin() + static_cast<std::ptrdiff_t>(limit), records.end());
}

// Takes the ids it finds out of `wanted`.
void find_in(Statement& by_id, std::set<TaskId>& wanted, std::vector<TaskRecord>& found) {
  for (auto id = wanted.begin(); id != wanted.end();) {
    by_id.bind(1, number(*id));
    Rows rows{by_id};
    const bool there = rows.next();
    if (there) found.push_back(read_record(by_id));
    id = there ? wanted.erase(id) : std::next(id);
  }
}

}  // namespace

Queries::Prepared::Prepared(const std::filesystem::path& path) : db(open_reader(path, kCacheKib)) {}

void Queries::close() {
  for (OneReader& reader : readers_) reader.close();
}

template <class Body>
auto Queries::with_reader(Body body) {
  auto held = readers_[0].try_lock();
  OneReader& reader = readers_[held ? 0 : 1];
  if (!held) held = reader.lock();
  return reader.read(std::move(held), [&](Prepared& on) {
    const Snapshot snapshot{on.db};
    return body(on.db);
  });
}

std::vector<TaskRecord> Queries::find(std::span<const TaskId> ids) {
  return with_reader([&](Connection& db) {
    std::set<TaskId> wanted{ids.begin(), ids.end()};
    std::vector<TaskRecord> found;
    Statement live = db.prepare(sql::live_record());
    find_in(live, wanted, found);
    const auto tables = history_tables(db);
    for (auto table = tables.rbegin(); table != tables.rend() && !wanted.empty(); ++table) {
      Statement finished = db.prepare(sql::finished_record(*table));
      find_in(finished, wanted, found);
    }
    return found;
  });
}

std::vector<TaskRecord> Queries::list(const TaskQuery& query) {
  return with_reader([&](Connection& db) {
    const bool by_lookup = !query.key.empty() || !query.business_id.empty();
    if (query.finished && !by_lookup) return search_history(db, query, tables_of(query, db));
    const QuerySql sql{query};
    std::vector<TaskRecord> records;
    for_each_source(query, sql, db, [&](const std::string& table, QuerySql::Part part) {
      Statement page = db.prepare(sql.page(table, part));
      sql.bind_page(page);
      add_page(page, records);
    });
    keep_first(records, query.limit);
    return records;
  });
}

std::int64_t Queries::count(const TaskQuery& query) {
  return with_reader([&](Connection& db) {
    const QuerySql sql{query};
    std::int64_t total = 0;
    for_each_source(query, sql, db, [&](const std::string& table, QuerySql::Part part) {
      Statement count = db.prepare(sql.count(table, part));
      sql.bind_count(count);
      Rows rows{count};
      if (rows.next()) total += count.integer(0);
    });
    return total;
  });
}

Counts Queries::counts(std::string_view space) {
  return with_reader([&](Connection& db) { return read_counts(db, space); });
}

std::vector<PausedHandler> Queries::paused(std::string_view space) {
  return with_reader([&](Connection& db) { return sqlite::paused(db, space); });
}

}  // namespace easyretry::storage::sqlite
