#pragma once
// Rows to be inserted, column by column: what is the same in all of them is sent once, the rest as one array a column.
// Most tasks of a batch differ in little more than id, key and arguments; unnest costs the server as much for each
// column as storing it (measured: 35 arrays make an insert a third slower than 8).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/postgres/connection.h"

namespace easyretry::storage::postgres {

template <class Row>
class RowColumns {
 public:
  RowColumns(Params& params, std::span<const Row> rows) : params_(params), rows_(rows) {}

  // `get` gives something like an integer, or an optional one.
  template <class Get>
  RowColumns& numbers(std::string_view column, Get get) {
    std::vector<std::optional<std::int64_t>> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(get(row));
    return add(column, "::bigint", values, [this](const auto& all) { params_.add(all); });
  }
  // A view of nothing is NULL.
  template <class Get>
  RowColumns& texts(std::string_view column, Get get) {
    return add(column, "::text", views(get), [this](const auto& all) { params_.add_nullable(all); });
  }
  template <class Get>
  RowColumns& bytes(std::string_view column, Get get) {
    return add(column, "::bytea", views(get),
               [this](const auto& all) { params_.add_nullable(all, Params::As::bytes); });
  }

  // (a, b, c) SELECT b.a, $2::text, b.c FROM unnest($1::bigint[], $3::text[]) AS b(a, c)
  std::string insert_list() const {
    return " (" + columns_ + ") SELECT " + values_ + " FROM unnest(" + arrays_ + ") AS b(" + varying_ + ")";
  }

 private:
  template <class Value, class AddAll>
  RowColumns& add(std::string_view column, std::string_view type, const std::vector<Value>& values, AddAll add_all) {
    const bool first = columns_.empty();  // always an array, to say how many rows there are
    const auto same = [&](const Value& value) { return is_same(value, values.front()); };
    append(columns_, column);
    if (!first && std::all_of(values.begin(), values.end(), same)) {
      add_one(values.front(), type);
      append(values_, "$" + std::to_string(params_.size()) + std::string{type});
      return *this;
    }
    add_all(values);
    append(values_, "b." + std::string{column});
    append(varying_, column);
    append(arrays_, "$" + std::to_string(params_.size()) + std::string{type} + "[]");
    return *this;
  }

  static bool is_same(const std::optional<std::int64_t>& a, const std::optional<std::int64_t>& b) { return a == b; }
  static bool is_same(std::string_view a, std::string_view b) {
    return a == b && (a.data() == nullptr) == (b.data() == nullptr);
  }
  void add_one(const std::optional<std::int64_t>& value, std::string_view) { params_.add(value); }
  void add_one(std::string_view value, std::string_view type) {
    params_.add_nullable(value, type == "::text" ? Params::As::text : Params::As::bytes);
  }

  template <class Get>
  std::vector<std::string_view> views(Get get) {
    std::vector<std::string_view> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(get(row));
    return values;
  }
  static void append(std::string& list, std::string_view entry) {
    if (!list.empty()) list.append(", ");
    list.append(entry);
  }

  Params& params_;
  const std::span<const Row> rows_;
  std::string columns_;
  std::string values_;
  std::string varying_;
  std::string arrays_;
};

}  // namespace easyretry::storage::postgres
