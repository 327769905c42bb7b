#pragma once
// Which table a row lives in. Pure: names and arithmetic, no database.
//
// Rows are placed by their id, which carries its creation time and shard, so an id alone leads back to its row. Ids
// that were borrowed from the next millisecond may fall into the period after the row's own created_at: place by id.
//
// In a period layout a table is in use while its period overlaps [now - window, now]. When it leaves that window, what
// is unfinished in it is moved to the table of the current period with the same suffix, and it is dropped. So a row is
// in its own table for certain until that leaves, and later moves only to younger ones. The window is as much part of a
// database's layout as the number of tables: were it made longer, ids would be looked for where they no longer are.
//
// It all goes by the store's clock. One that was ahead wrote to early() tables, where a scan must look for them. If it
// was ahead so far that tables left before their time, their rows are in early() tables too, but are found by id only
// when the clock is in that period again: late, not lost.
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

// A table without its name: cheap to make for every task of a batch. Ascending is oldest first, and the order in which
// every instance should touch tables, so that two of them never wait for each other.
struct TableId {
  std::int32_t period = 0;   // Period::index; 0 where the layout does not go by time
  std::uint16_t suffix = 0;  // shard % tables

  friend auto operator<=>(const TableId&, const TableId&) = default;
};

struct ShardsOfTable {
  TableId table;
  std::vector<ShardId> shards;  // ascending

  friend bool operator==(const ShardsOfTable&, const ShardsOfTable&) = default;
};

class TableRouter {
 public:
  static constexpr Millis kDefaultWindow = std::chrono::days{30};

  // Throws std::invalid_argument for a layout that does not suit the shards and a window shorter than a day (clocks
  // differ a little, and a table must not leave while someone still writes to it) or longer than ten years.
  TableRouter(const Layout& layout, int total_shards, Millis window = kDefaultWindow);

  TableId table_of(TaskId id) const;
  TableId table_of(TimePoint created, ShardId shard) const;
  bool holds(TableId table, ShardId shard) const { return table.suffix == suffix_of(shard); }

  // retry_task, retry_task_{suffix} or retry_task_{period}_{suffix}; _0 also where it is the only suffix.
  std::string name(TableId table) const;
  // Exactly what name() writes for this layout; nullopt for anyone else's table, history, and other layouts' tables.
  std::optional<TableId> parse(std::string_view name) const;

  // Where an unfinished row may have been moved, besides table_of(id); nothing while it cannot have been. Look into
  // table_of(id) first and then into these, as given: that is the way rows move, so none is missed in passing. Some may
  // not exist. `now` may be an hour behind the clock by which rows are moved.
  std::vector<TableId> moved_to(TaskId id, TimePoint now) const;

  // What a scan of these shards must read, oldest first: only tables in the window, only suffixes with such shards.
  // Rows in leaving() and early() tables are not in it: whoever knows what exists adds them.
  std::vector<ShardsOfTable> tables_for(std::span<const ShardId> shards, TimePoint now) const;

  // What must exist now, ascending.
  std::vector<TableId> all_tables(TimePoint now) const;
  // What must be made in advance: the tables of later periods that begin until now + ahead.
  std::vector<TableId> tables_ahead(TimePoint now, Millis ahead) const;

  // Of the existing tables, ascending, those whose period ended before the window: to be emptied and dropped.
  std::vector<TableId> leaving(std::span<const std::string> existing, TimePoint now) const;
  // Those whose period has not begun: made ahead and empty, unless a clock was ahead when it wrote to them.
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

struct BatchPart {
  TableId table;
  std::vector<std::size_t> positions;  // in the batch, ascending
};

// A batch taken apart by table, ascending; `tables` says for each entry where it goes.
std::vector<BatchPart> by_table(std::span<const TableId> tables);

}  // namespace easyretry::storage
