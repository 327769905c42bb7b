#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/sqlite/connection.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// A TaskQuery as SQL over one table, live or history. Refers to the query, which must outlive it.
//
// A page by key goes by the _key index, one by business type and id by the _business index; any other walks the table
// by id and stops when it is full.
class QuerySql {
 public:
  explicit QuerySql(const TaskQuery& query);

  std::string page(const std::string& table) const;
  void bind_page(Statement& statement) const;

  std::string count(const std::string& table) const;
  void bind_count(Statement& statement) const;

 private:
  void equal(std::string_view column, std::string_view text);

  const TaskQuery& query_;
  std::string where_ = " WHERE TRUE";
  std::vector<std::string_view> texts_;
};

}  // namespace easyretry::storage::sqlite
