#pragma once
// Searches: a TaskQuery as SQL, and pages of a long history.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// A TaskQuery as SQL over one table, live or history. Refers to the query, which must outlive it.
//
// With a key or business id, a page walks the lookup, otherwise the table: by id in the order of the query, from
// `after` until the page is full.
class QuerySql {
 public:
  // The parts of the lookup to read one after the other: each is sorted by itself. nullopt: without the lookup.
  using Part = std::optional<LookupPart>;

  explicit QuerySql(const TaskQuery& query);

  std::vector<Part> parts() const;

  // For other statements: the conditions, and the texts that they compare with.
  const std::string& where() const { return where_; }
  int parameters() const { return static_cast<int>(texts_.size()); }
  bool asks_for_calls() const { return !query_.business_type.empty() || query_.created_at.restricts(); }
  void bind_texts(PreparedStatement& statement) const;

  std::string page(const std::string& table, Part part) const;
  void bind_page(PreparedStatement& statement) const;

  std::string count(const std::string& table, Part part) const;  // bind_texts() is all it needs

  // For add_conditions().
  void equal(std::string_view column, std::string_view text);
  void in_range(std::string_view column, const TimeRange& range);
  void require(std::string_view condition) { where_.append(" AND ").append(condition); }

 private:
  std::string from(const std::string& tasks, Part part) const;
  std::string count_by_creation(const std::string& table) const;

  const TaskQuery& query_;
  std::string where_ = " WHERE TRUE";
  std::vector<std::string_view> texts_;
};

// Times are compared in slices: a page may have to skip the rows of one slice before its first one. A search over a
// month looks at 4,464 of them.
inline constexpr Millis kSlice{600'000};

// The page of a query without key and business id, out of these months, in its order. However long the history is, it
// reads few rows that are not on the page; docs/decisions/027-pages-of-a-long-history.md explains how.
std::vector<TaskRecord> search_history(Connection& db, const TaskQuery& query, const std::vector<std::string>& months);
// The ids on the page of one month, ascending.
std::vector<TaskId> ids_in_month(Connection& db, const TaskQuery& query, const std::string& month);
// The same as search_history() for live tasks, by when they were stored.
std::vector<TaskRecord> search_live(Connection& db, const TaskQuery& query);

}  // namespace easyretry::storage::sqlite
