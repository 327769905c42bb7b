#pragma once
// Which tables there are, as far as this process knows. Safe to use from any thread.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/sql/session.h"
#include "storage/table_router.h"

namespace easyretry::storage::sql {

// Which tables the tasks of a database are in at this moment, as retry_meta says:
//
//   hash(16)             in these
//   hash(16)>hash(32)    they are being split: new tasks go to the tables of hash(32), the others are moved there
struct Placement {
  TableRouter router;                   // for tasks that are stored now
  std::optional<TableRouter> before{};  // older rows may still be where this one says

  // The table that the row leaves in a split; nullopt if it stays.
  std::optional<TableId> left_by(TaskId id) const {
    if (!before || before->table_of(id) == router.table_of(id)) return std::nullopt;
    return before->table_of(id);
  }
  bool holds(TableId table, ShardId shard) const {
    return router.holds(table, shard) || (before && before->holds(table, shard));
  }
};

std::string to_text(const Placement& placement);
// Throws std::invalid_argument.
Placement parse_placement(std::string_view text, int total_shards, Millis window);

// The word in retry_keeper_log.
inline std::string_view action_of(const KeepStep& step) {
  switch (step.kind) {
    case KeepStep::Kind::made: return "made";
    case KeepStep::Kind::emptied: return "emptied";
    case KeepStep::Kind::dropped:
    case KeepStep::Kind::history_dropped: return "dropped";
  }
  return "unknown";
}

// Whether a table of ours, by its name, has rows of tasks, live or ended.
inline bool has_tasks(std::string_view table) {
  return table.starts_with("retry_task") && table != "retry_task_key";
}

// A transaction needs a table that does not exist yet. The table is created outside, and the transaction is run again.
struct MissingTable {
  std::string name;
};

// The tables are being split, and this transaction used the old layout. It is run again.
struct LayoutChanged {};

class Tables {
 public:
  Tables(Pool& pool, TableRouter router) : pool_(pool), kind_(router.layout().kind()), placement_{router} {}

  Placement placement() const;
  TableRouter router() const { return placement().router; }
  bool several() const { return kind_ != Layout::Kind::single; }
  bool can_be_split() const { return kind_ == Layout::Kind::hash; }

  // Takes the layout in retry_meta, which must not change meanwhile: the caller holds it, or there is no other instance
  // yet.
  void learn(const std::string& layout);
  // Takes a layout that was read after `as_of()`. Ignored if another one was learned since then: threads overtake each
  // other, and this one may be outdated.
  std::uint64_t as_of() const;
  void observe(const std::string& layout, std::uint64_t as_of);
  // Asks the server, if the layout can change. Returns its answer.
  std::optional<std::string> look_again(Session& session);

  // Creates a table of tasks or a month of history if it is missing or lacks a column. Not to be called inside a
  // transaction, which some servers would commit.
  void ensure(const std::string& table);
  // All tables that an insert may need for some time. Returns those that were missing.
  std::vector<std::string> ensure_tasks(TimePoint now);

  // Adds the columns that a table lacks because an instance of an earlier release created it, perhaps just now. Inside
  // a transaction, which some servers would commit for that, throws MissingTable.
  void complete(Session& session, const std::string& table);

  // The name of the table, for a transaction that writes to it. Throws MissingTable.
  std::string required(std::string table) const;
  void forget();  // a known table is missing, so all are looked up again

  // Whether there is such a table, for reading or changing its rows. Asks the server if this process does not know it.
  // A table that has left the window is either known or gone.
  bool exists(Session& session, TableId table, TimePoint now);

  // The tables that a scan reads: those of the window, and known ones outside of it, which have rows to be moved, or
  // rows of a clock that was ahead. Ascending.
  std::vector<TableId> scanned(Session& session, TimePoint now);

  // The tables that the server has now, complete.
  std::vector<TableId> tasks(Session& session);  // ascending
  std::vector<TableInfo> described(Session& session, TimePoint now) const;
  // Newest first, complete.
  std::vector<std::string> histories(Session& session);

 private:
  using Names = std::set<std::string, std::less<>>;

  bool knows(const std::string& table) const;
  bool is_complete(const std::string& table) const;  // has all columns
  void know(const std::vector<std::string>& names);
  void take(const std::string& layout);  // under mutex_

  Pool& pool_;
  const Layout::Kind kind_;
  mutable std::mutex mutex_;
  Placement placement_;        // guarded by mutex_
  std::uint64_t learned_ = 0;  // how often; guarded by mutex_
  Names known_;                // guarded by mutex_
  Names complete_;             // of them, those that have all columns; guarded by mutex_
};

}  // namespace easyretry::storage::sql
