#pragma once
// The values of a statement: $1, $2, … in order, in PostgreSQL's binary form. A batch of rows becomes one array per
// column.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include <easyretry/task.h>

#include "base/utf8.h"
#include "storage/record_columns.h"

namespace easyretry::storage::postgres {

class Params {
 public:
  Params& add(std::int64_t value);
  Params& add(std::optional<std::int64_t> value);
  Params& add(std::string_view text);
  // One array: a column of a batch, for unnest.
  Params& add(std::span<const std::int64_t> values);
  Params& add(std::span<const std::optional<std::int64_t>> values);
  enum class As { text, bytes };
  Params& add(std::span<const std::string_view> values, As as = As::text);
  // A view without data, which is not the same as "", is NULL.
  Params& add_nullable(std::span<const std::string_view> values, As as = As::text);
  Params& add_nullable(std::string_view value, As as = As::text);

  std::size_t size() const { return values_.size(); }

 private:
  friend class Connection;
  std::vector<std::optional<std::string>> values_;
  std::vector<Oid> types_;
};

inline std::optional<std::int64_t> ms(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time)} : std::nullopt;
}

// For LIMIT.
std::int64_t limit(std::size_t rows);

// An empty text is stored as NULL.
inline std::string_view or_null(std::string_view text) {
  return text.empty() ? std::string_view{} : text;
}

// Makes any bytes storable as text: errors, progress and the like may be anything. Must outlive the views it returns.
class TextCleaner {
 public:
  std::string_view operator()(std::string_view text) {
    const bool fine = base::invalid_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos;
    return fine ? text : cleaned_.emplace_back(base::storable_utf8(text));
  }

 private:
  std::deque<std::string> cleaned_;
};

// One column of a batch: the result of get(row) for each row.
template <class Value, class Row, class Get>
std::vector<Value> column_of(std::span<const Row> rows, Get get) {
  std::vector<Value> column;
  column.reserve(rows.size());
  for (const Row& row : rows) column.push_back(get(row));
  return column;
}

// Adds one array per column. Views need to live only until the call returns.
template <class Row>
class Batch {
 public:
  Batch(Params& params, std::span<const Row> rows) : params_(params), rows_(rows) {}

  template <class Get>
  Batch& numbers(Get get) {
    params_.add(column_of<std::int64_t>(rows_, [&](const Row& row) { return static_cast<std::int64_t>(get(row)); }));
    return *this;
  }
  template <class Get>
  Batch& maybe_numbers(Get get) {
    params_.add(column_of<std::optional<std::int64_t>>(rows_, get));
    return *this;
  }
  template <class Get>
  Batch& texts(Get get) {
    params_.add(column_of<std::string_view>(rows_, get));
    return *this;
  }
  template <class Get>
  Batch& maybe_texts(Get get) {
    params_.add_nullable(column_of<std::string_view>(rows_, get));
    return *this;
  }
  template <class Get>
  Batch& bytes(Get get) {
    params_.add_nullable(column_of<std::string_view>(rows_, get), Params::As::bytes);
    return *this;
  }
  // As maybe_texts, for texts that may not be UTF-8.
  template <class Get>
  Batch& free_texts(Get get) {
    TextCleaner clean;
    return maybe_texts([&](const Row& row) { return clean(get(row)); });
  }

 private:
  Params& params_;
  const std::span<const Row> rows_;
};

Params id_params(std::span<const TaskId> ids);

// Rows to be inserted, column by column. A value that is the same in all rows is sent once, the others as one array per
// column. Most tasks of a batch differ in little more than id, key and arguments, and unnest costs the server as much
// for each column as storing it (measured: with 35 arrays, an insert is a third slower than with 8).
template <class Row>
class RowColumns {
 public:
  RowColumns(Params& params, std::span<const Row> rows) : params_(params), rows_(rows) {}

  // `get` returns an integer or an optional one.
  template <class Get>
  RowColumns& numbers(std::string_view column, Get get) {
    return add(column, "::bigint", column_of<std::optional<std::int64_t>>(rows_, get),
               [this](const auto& all) { params_.add(all); });
  }
  // A view without data is NULL.
  template <class Get>
  RowColumns& texts(std::string_view column, Get get) {
    return add(column, "::text", column_of<std::string_view>(rows_, get),
               [this](const auto& all) { params_.add_nullable(all); });
  }
  template <class Get>
  RowColumns& bytes(std::string_view column, Get get) {
    return add(column, "::bytea", column_of<std::string_view>(rows_, get),
               [this](const auto& all) { params_.add_nullable(all, Params::As::bytes); });
  }

  // For statements::insert: a, b, c / b.a, $2::text, b.c / $1::bigint[], $3::text[] / a, c
  const std::string& columns() const { return columns_; }
  const std::string& values() const { return values_; }
  const std::string& arrays() const { return arrays_; }
  const std::string& varying() const { return varying_; }

 private:
  template <class Value, class AddAll>
  RowColumns& add(std::string_view column, std::string_view type, const std::vector<Value>& all, AddAll add_all) {
    const bool first = columns_.empty();  // always an array: it says how many rows there are
    const auto same = [&](const Value& value) { return is_same(value, all.front()); };
    append(columns_, column);
    if (!first && std::all_of(all.begin(), all.end(), same)) {
      add_one(all.front(), type);
      append(values_, "$" + std::to_string(params_.size()) + std::string{type});
      return *this;
    }
    add_all(all);
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

// A namespace and a shard as one number, the first column of the index of due tasks. Four bytes instead of a text make
// an insert a fifth cheaper (measured). Two namespaces share a lane once in a million, so a reader compares the
// namespace, too.
//
// | 20 bits of the namespace's FNV-1a hash | 12 bits shard |, as a signed number. It is stored, so it must never
// change.
constexpr std::int32_t lane_of(std::string_view name_space, ShardId shard) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name_space) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<std::int32_t>(hash << 12U | static_cast<std::uint32_t>(shard));
}

constexpr ShardId shard_in(std::int32_t lane) {
  return ShardId{static_cast<std::uint16_t>(static_cast<std::uint32_t>(lane) & 0xfffU)};
}

static_assert(shard_in(lane_of("payments", ShardId{4095})) == ShardId{4095});

}  // namespace easyretry::storage::postgres
