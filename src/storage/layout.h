#pragma once
// How the rows of tasks that are still to be done share tables.
//
//   single            retry_task                      an active table stays small: enough for most
//   hash(16)          retry_task_{shard % 16}         more room to write
//   period(month,2)   retry_task_202501_{shard % 2}   by creation time; space is given back by DROP TABLE

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
  PeriodLength length() const { return length_; }  // of the period layout; says nothing in others
  int tables() const { return tables_; }           // among which the shards are shared, in each period

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  Layout() = default;
  Layout(Kind kind, PeriodLength length, int tables) : kind_(kind), length_(length), tables_(tables) {}

  Kind kind_ = Kind::single;
  PeriodLength length_ = PeriodLength::month;
  int tables_ = 1;
};

// As above, the number always written: period(day,1).
std::string to_text(const Layout& layout);

// period(day) is period(day,1). Throws std::invalid_argument naming the text and what it may be for anything else.
Layout parse_layout(std::string_view text);

// Throws std::invalid_argument unless the tables divide the shards, for only then a shard lives in one table for good,
// also when hash(n) is split: `hash(12) does not divide 64 shards; use 8 or 16`.
void validate(const Layout& layout, int total_shards);

}  // namespace easyretry::storage
