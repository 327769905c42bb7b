#include "storage/sqlite/queries.h"

#include <algorithm>
#include <set>

#include "storage/counts.h"
#include "storage/history.h"
#include "storage/record_columns.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/search.h"
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

// Runs body(table, part) for every place that may have such tasks.
template <class Body>
void for_each_source(const TaskQuery& query, const QuerySql& sql, Connection& db, Body body) {
  for (const std::string& table : tables_of(query, db)) {
    for (const QuerySql::Part part : sql.parts()) body(table, part);
  }
}

void add_page(PreparedStatement& page, std::vector<TaskRecord>& to) {
  Rows rows{page};
  while (rows.next()) to.push_back(read_record(page));
}

// The first `limit` by id out of several pages, each of which is sorted.
void keep_first(std::vector<TaskRecord>& records, std::size_t limit) {
  std::sort(records.begin(), records.end(),
            [](const TaskRecord& a, const TaskRecord& b) { return a.info.id < b.info.id; });
  if (records.size() > limit) records.erase(records.begin() + static_cast<std::ptrdiff_t>(limit), records.end());
}

// Removes the ids it finds from `wanted`.
void find_in(PreparedStatement& by_id, std::set<TaskId>& wanted, std::vector<TaskRecord>& found) {
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
    PreparedStatement live = db.prepare(statements::live_record);
    find_in(live, wanted, found);
    const auto tables = history_tables(db);
    for (auto table = tables.rbegin(); table != tables.rend() && !wanted.empty(); ++table) {
      PreparedStatement finished = db.prepare(statements::finished_record.with({{"table", *table}}));
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
      PreparedStatement page = db.prepare(sql.page(table, part));
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
      PreparedStatement count = db.prepare(sql.count(table, part));
      sql.bind_texts(count);
      Rows rows{count};
      if (rows.next()) total += count.integer(0);
    });
    return total;
  });
}

Counts Queries::counts(std::string_view space) {
  return with_reader([&](Connection& db) {
    PreparedStatement select = db.prepare(statements::counts);
    select.bind(1, space);
    Sums sums;
    Rows rows{select};
    while (rows.next()) read_count(select, sums);
    return counts_of(sums, space);
  });
}

std::vector<PausedHandler> Queries::paused(std::string_view space) {
  return with_reader([&](Connection& db) {
    PreparedStatement select = db.prepare(statements::paused);
    select.bind(1, space);
    std::vector<PausedHandler> handlers;
    Rows rows{select};
    while (rows.next()) {
      handlers.push_back({std::string{select.text(0)}, from_ms(select.integer(1)), std::string{select.text(2)}});
    }
    return handlers;
  });
}

}  // namespace easyretry::storage::sqlite
