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
//   hash(16)>hash(32)    they are being split: new tasks go to the tables of hash(32), the others are on their way
//   there
struct Placement {
  TableRouter router;                   // for what is stored now
  std::optional<TableRouter> before{};  // rows may still be where this one says

  // The table that a row leaves by the split; nothing where it stays.
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

// A table that a transaction needs and nobody has made yet: it is made outside, and the transaction run again.
struct MissingTable {
  std::string name;
};

// Somebody splits the tables: what was done in this transaction went by what is no longer true. It is run again.
struct LayoutChanged {};

class Tables {
 public:
  Tables(Pool& pool, TableRouter router) : pool_(pool), kind_(router.layout().kind()), placement_{router} {}

  Placement placement() const;
  TableRouter router() const { return placement().router; }
  KeysIn keys_in() const { return several() ? KeysIn::keys : KeysIn::tasks; }
  bool several() const { return kind_ != Layout::Kind::single; }
  bool can_be_split() const { return kind_ == Layout::Kind::hash; }

  // What retry_meta says, and cannot stop saying meanwhile: whoever asks holds it, or nobody else is there yet.
  void learn(const std::string& layout);
  // What it said to somebody who began to ask at `as_of()`. Ignored where something was learned since: threads overtake
  // each other, and it may be what was true before.
  std::uint64_t as_of() const;
  void hear(const std::string& layout, std::uint64_t as_of);
  // Asks the server, where the layout may have changed. Gives what it says.
  std::optional<std::string> look_again(Session& session);

  // Makes what is missing, of tasks or a month of history. Not to be called inside a transaction: some servers end it
  // for that.
  void ensure(const std::string& table);
  // All that an insert may need for some time; gives those that were not there.
  std::vector<std::string> ensure_tasks(TimePoint now);

  // The name, for a transaction that writes to it. Throws MissingTable.
  std::string required(std::string table) const;
  void forget();  // one is missing that was known: all are looked at again

  // For what reads or changes rows: whether there is such a table, asked of the server where this process has not heard
  // of it. One that has left the window is only known or gone.
  bool exists(Session& session, TableId table, TimePoint now);

  // What a scan reads: the window, and what is known outside of it, where rows wait to be moved or a clock that was
  // ahead left some. Ascending.
  std::vector<TableId> scanned(Session& session, TimePoint now);

  // As the server has them now.
  std::vector<TableId> tasks(Session& session);  // ascending
  std::vector<TableInfo> described(Session& session, TimePoint now) const;
  // Newest first. One that an instance of an earlier release has made, perhaps just now, is completed before it is
  // given; inside a transaction, which some servers would end for that, it is a MissingTable.
  std::vector<std::string> histories(Session& session);

 private:
  using Names = std::set<std::string, std::less<>>;

  bool knows(const std::string& table) const;
  bool is_complete(const std::string& table) const;  // which that it is known does not say of a table of history
  void know(const std::vector<std::string>& names);
  void take(const std::string& layout);  // under mutex_

  Pool& pool_;
  const Layout::Kind kind_;
  mutable std::mutex mutex_;
  Placement placement_;        // guarded by mutex_
  std::uint64_t learned_ = 0;  // how often; guarded by mutex_
  Names known_;                // guarded by mutex_
  Names complete_;             // tables of history that have all columns; guarded by mutex_
};

}  // namespace easyretry::storage::sql
