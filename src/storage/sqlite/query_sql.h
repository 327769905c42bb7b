#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/lookup.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// A TaskQuery as SQL over one table, live or history. Refers to the query, which must outlive it.
//
// By key or business id a page walks the lookup, by anything else the table; both in the order of ids, from `after`
// until the page is full.
class QuerySql {
 public:
  // The parts of the lookup to be asked one after the other: each is in order for itself. nullopt: without the lookup.
  using Part = std::optional<LookupPart>;

  explicit QuerySql(const TaskQuery& query);

  std::vector<Part> parts() const;

  // For whoever writes statements of his own: conditions, and the texts that they compare with.
  const std::string& where() const { return where_; }
  int parameters() const { return static_cast<int>(texts_.size()); }
  bool asks_for_calls() const { return !query_.business_type.empty() || query_.created_at.restricts(); }

  std::string page(const std::string& table, Part part) const;
  void bind_page(Statement& statement) const;

  std::string count(const std::string& table, Part part) const;
  void bind_count(Statement& statement) const { bind_texts(statement); }
  void bind_texts(Statement& statement) const;

 private:
  void equal(std::string_view column, std::string_view text);
  void of_state(TaskState state);
  void in_range(std::string_view column, const TimeRange& range);
  std::string from(const std::string& tasks, Part part) const;

  const TaskQuery& query_;
  std::string where_ = " WHERE TRUE";
  std::vector<std::string_view> texts_;
};

// How many rows a page has at most, as SQLite takes it.
std::int64_t limit_of(const TaskQuery& query);

}  // namespace easyretry::storage::sqlite
