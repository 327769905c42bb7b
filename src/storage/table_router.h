#pragma once
// Which table a row is in. Pure: names and arithmetic, no database.
//
// An id contains its creation time and its shard, and rows are placed by their ids. So an id alone leads to its row. An
// id that was borrowed from the next millisecond may fall into the period after the row's created_at: place rows by id,
// not by created_at.
//
// In a period layout, a table is in use while its period overlaps [now - window, now]. When it leaves that window, its
// unfinished rows are moved to the table of the current period with the same suffix, and the table is dropped. So a row
// is in its own table until that table leaves the window, and afterwards moves to younger tables only. The window is as
// much a part of a database's layout as the number of tables: if it became longer, ids would be looked up where they no
// longer are.
//
// The store's clock decides. A clock that was ahead wrote to early() tables, so a scan has to read those too. If it was
// so far ahead that tables left the window before their time, their rows are in early() tables as well. By id, they are
// found only when the clock reaches that period again: late, but not lost.
//
// A value; safe to use from any thread.

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/task.h>

#include "storage/layout.h"

namespace easyretry::storage {

// A table without its name: cheap to make for every task of a batch. Ascending means oldest first. Every instance
// touches tables in this order, so that two instances never wait for each other in a circle.
struct TableId {
  std::int32_t period = 0;   // Period::index; 0 unless it is a period layout
  std::uint16_t suffix = 0;  // shard % tables

  friend auto operator<=>(const TableId&, const TableId&) = default;
};

class TableRouter {
 public:
  static constexpr Millis kDefaultWindow = std::chrono::days{30};

  // Throws std::invalid_argument for a layout that does not fit the number of shards, and for a window shorter than a
  // day (clocks differ a little, and a table must not leave while an instance still writes to it) or longer than ten
  // years.
  TableRouter(const Layout& layout, int total_shards, Millis window = kDefaultWindow);

  TableId table_of(TaskId id) const;
  TableId table_of(TimePoint created, ShardId shard) const;
  bool holds(TableId table, ShardId shard) const { return table.suffix == suffix_of(shard); }

  // retry_task, retry_task_{suffix} or retry_task_{period}_{suffix}. The suffix is written even if _0 is the only one.
  std::string name(TableId table) const;
  // The inverse of name() for this layout; nullopt for any other table: history, another layout's, another
  // application's.
  std::optional<TableId> parse(std::string_view name) const;

  // Where an unfinished row may have been moved, besides table_of(id); empty if it cannot have been moved yet. Look in
  // table_of(id) first, then in these, in this order: rows move the same way, so none is missed. Some of the tables may
  // not exist. `now` may be an hour behind the clock by which rows are moved.
  std::vector<TableId> moved_to(TaskId id, TimePoint now) const;

  // The tables that must exist now, ascending. A scan reads those of them that hold its shards, and existing tables
  // that are leaving() or early().
  std::vector<TableId> all_tables(TimePoint now) const;
  // The tables to create in advance: those of later periods that begin before now + ahead.
  std::vector<TableId> tables_ahead(TimePoint now, Millis ahead) const;

  // Existing tables whose period ended before the window, ascending: to be emptied and dropped.
  std::vector<TableId> leaving(std::span<const std::string> existing, TimePoint now) const;
  // Existing tables whose period has not begun: created in advance and empty, unless a clock was ahead.
  std::vector<TableId> early(std::span<const std::string> existing, TimePoint now) const;

  const Layout& layout() const { return layout_; }
  int total_shards() const { return total_shards_; }
  Millis window() const { return window_; }

 private:
  struct Periods {
    std::int32_t first;
    std::int32_t last;
  };

  std::int32_t period_index(TimePoint time) const;
  Periods window_at(TimePoint now) const;
  std::vector<TableId> tables_in(Periods periods) const;
  std::vector<TableId> existing_in(std::span<const std::string> existing, Periods periods) const;
  std::uint16_t suffix_of(ShardId shard) const;
  std::optional<std::uint16_t> parse_suffix(std::string_view digits) const;

  Layout layout_;
  int total_shards_;
  Millis window_;
};

// A move of a split, such as from hash(16) to hash(32). By `shard % 32`, retry_task_0 keeps its shards 0 and 32, and
// gives 16 and 48 to retry_task_16. No hash is computed again: the shard of a row says whether it moves.
struct TableMove {
  TableId from;
  TableId to;  // a new table: the old layout does not have its number
  std::vector<ShardId> shards;

  friend bool operator==(const TableMove&, const TableMove&) = default;
};

// In the order of the new tables; shards that are not mentioned stay. Throws std::invalid_argument unless both are hash
// layouts, `to` has a multiple of the tables of `from`, and both divide total_shards.
std::vector<TableMove> split(const Layout& from, const Layout& to, int total_shards);

}  // namespace easyretry::storage
