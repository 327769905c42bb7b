#pragma once
// How the rows of live tasks are divided among tables.
//
//   single            retry_task                      the default: a table of live tasks stays small
//   hash(16)          retry_task_{shard % 16}         writes are spread over several tables
//   period(month,2)   retry_task_202501_{shard % 2}   by creation time; DROP TABLE frees the space

#include <string>
#include <string_view>

#include "storage/period.h"

namespace easyretry::storage {

class Layout {
 public:
  enum class Kind { single, hash, period };

  static Layout single() { return {}; }
  static Layout hash(int tables) { return {Kind::hash, PeriodLength::month, tables}; }
  static Layout period(PeriodLength length, int tables = 1) { return {Kind::period, length, tables}; }

  Kind kind() const { return kind_; }
  PeriodLength length() const { return length_; }  // of a period layout; meaningless for others
  int tables() const { return tables_; }  // that the shards are divided among; in each period, if it is a period layout

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  Layout() = default;
  Layout(Kind kind, PeriodLength length, int tables) : kind_(kind), length_(length), tables_(tables) {}

  Kind kind_ = Kind::single;
  PeriodLength length_ = PeriodLength::month;
  int tables_ = 1;
};

// The text as above, always with the number: period(day,1).
std::string to_text(const Layout& layout);

// period(day) is the same as period(day,1). Throws std::invalid_argument that names the text and the valid layouts.
Layout parse_layout(std::string_view text);

// Throws std::invalid_argument unless the number of tables divides the number of shards, such as `hash(12) does not
// divide 64 shards; use 8 or 16`. Otherwise a shard would not stay in one table, or would not move as a whole when
// hash(n) is split.
void validate(const Layout& layout, int total_shards);

}  // namespace easyretry::storage
