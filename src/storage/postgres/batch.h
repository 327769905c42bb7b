#pragma once
// Rows turned into columns: PostgreSQL takes a batch as one array for each.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "storage/postgres/connection.h"
#include "storage/record_columns.h"

namespace easyretry::storage::postgres {

inline std::optional<std::int64_t> ms(const std::optional<TimePoint>& time) {
  return time ? std::optional{to_ms(*time)} : std::nullopt;
}

// An empty text is stored as NULL.
inline std::string_view or_null(std::string_view text) {
  return text.empty() ? std::string_view{} : text;
}

template <class Row>
class Batch {
 public:
  Batch(Params& params, std::span<const Row> rows) : params_(params), rows_(rows) {}

  template <class Get>
  Batch& numbers(Get get) {
    std::vector<std::int64_t> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(static_cast<std::int64_t>(get(row)));
    params_.add(values);
    return *this;
  }
  template <class Get>
  Batch& maybe_numbers(Get get) {
    std::vector<std::optional<std::int64_t>> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(get(row));
    params_.add(values);
    return *this;
  }
  template <class Get>
  Batch& texts(Get get) {
    params_.add(views(get));
    return *this;
  }
  template <class Get>
  Batch& maybe_texts(Get get) {
    params_.add_nullable(views(get));
    return *this;
  }
  template <class Get>
  Batch& bytes(Get get) {
    params_.add_nullable(views(get), Params::As::bytes);
    return *this;
  }
  // What people wrote, or programs said: it may be anything.
  template <class Get>
  Batch& free_texts(Get get) {
    std::deque<std::string> cleaned;
    params_.add_nullable(views([&](const Row& row) -> std::string_view {
      const std::string_view text = get(row);
      const bool fine = base::invalid_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos;
      return fine ? text : cleaned.emplace_back(base::storable_utf8(text));
    }));
    return *this;
  }

 private:
  template <class Get>
  std::vector<std::string_view> views(Get get) {
    std::vector<std::string_view> values;
    values.reserve(rows_.size());
    for (const Row& row : rows_) values.push_back(get(row));
    return values;
  }

  Params& params_;
  const std::span<const Row> rows_;
};

}  // namespace easyretry::storage::postgres
