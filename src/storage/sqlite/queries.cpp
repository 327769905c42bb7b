#include "storage/sqlite/queries.h"

#include <algorithm>
#include <limits>
#include <set>

#include "storage/sqlite/columns.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/loader.h"
#include "storage/sqlite/snapshot.h"
#include "storage/sqlite/statements.h"

namespace easyretry::storage::sqlite {
namespace {

constexpr int kCacheKib = 4 * 1024;
constexpr std::string_view kLiveTable = "retry_task";

// The conditions of a query as a WHERE clause and its texts.
class Conditions {
 public:
  explicit Conditions(const TaskQuery& query) {
    equal("namespace", query.space);
    equal("task_key", query.key);
    equal("method_name", query.handler);
    equal("business_type", query.business_type);
    equal("business_id", query.business_id);
    if (query.state) equal("status", to_string(*query.state));
    if (query.outcome) equal("outcome", to_string(*query.outcome));
  }

  const std::string& where() const { return where_; }

  void bind(Statement& statement) const {
    for (std::size_t i = 0; i < texts_.size(); ++i) statement.bind(static_cast<int>(i) + 1, texts_[i]);
  }
  int next_parameter() const { return static_cast<int>(texts_.size()) + 1; }

 private:
  void equal(std::string_view column, std::string_view text) {
    if (text.empty()) return;
    texts_.push_back(text);
    where_.append(" AND ").append(column).append(" = ?").append(std::to_string(texts_.size()));
  }

  std::string where_ = " WHERE TRUE";
  std::vector<std::string_view> texts_;
};

std::vector<std::string> tables_of(const TaskQuery& query, Connection& db) {
  return query.finished ? history_tables(db) : std::vector<std::string>{std::string{kLiveTable}};
}

std::string page_of(const std::string& table, const TaskQuery& query, const Conditions& conditions) {
  const int after = conditions.next_parameter();
  return "SELECT " + (query.finished ? finished_columns() : live_columns()) + " FROM " + table + conditions.where() +
         " AND id > ?" + std::to_string(after) + " ORDER BY id LIMIT ?" + std::to_string(after + 1);
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
    by_id.bind(1, static_cast<std::int64_t>(*id));
    Rows rows{by_id};
    const bool there = rows.next();
    if (there) found.push_back(read_record(by_id));
    id = there ? wanted.erase(id) : std::next(id);
  }
}

}  // namespace

Queries::Reader::Reader(const std::filesystem::path& path) : db(open_reader(path, kCacheKib)) {}

Queries::Queries(const std::filesystem::path& path) : readers_{Reader{path}, Reader{path}} {}

template <class Body>
auto Queries::with_reader(Body body) {
  std::unique_lock lock{readers_[0].mutex, std::try_to_lock};
  Reader& reader = readers_[lock ? 0 : 1];
  if (!lock) lock = std::unique_lock{reader.mutex};
  const Snapshot snapshot{reader.db};
  return body(reader.db);
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
  constexpr std::size_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  return with_reader([&](Connection& db) {
    const Conditions conditions{query};
    std::vector<TaskRecord> records;
    for (const std::string& table : tables_of(query, db)) {
      Statement page = db.prepare(page_of(table, query, conditions));
      conditions.bind(page);
      page.bind(conditions.next_parameter(), static_cast<std::int64_t>(query.after));
      page.bind(conditions.next_parameter() + 1, static_cast<std::int64_t>(std::min(query.limit, kNoLimit)));
      add_page(page, records);
    }
    keep_first(records, query.limit);
    return records;
  });
}

std::int64_t Queries::count(const TaskQuery& query) {
  return with_reader([&](Connection& db) {
    const Conditions conditions{query};
    std::int64_t total = 0;
    for (const std::string& table : tables_of(query, db)) {
      Statement count = db.prepare("SELECT count(*) FROM " + table + conditions.where());
      conditions.bind(count);
      Rows rows{count};
      if (rows.next()) total += count.integer(0);
    }
    return total;
  });
}

}  // namespace easyretry::storage::sqlite
