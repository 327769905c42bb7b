#pragma once
// Which tables there are, as far as this process knows. Safe to use from any thread.

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "storage/sql/placement.h"
#include "storage/sql/pool.h"

namespace easyretry::storage::sql {

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

  // What retry_meta says. Gives whether that is news.
  bool learn(const std::string& layout);
  // Asks the server, where the layout may have changed.
  bool look_again(Session& session);

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
  std::vector<std::string> histories(Session& session) const;  // newest first

 private:
  using Names = std::set<std::string, std::less<>>;

  bool knows(const std::string& table) const;
  void know(const std::vector<std::string>& names);

  Pool& pool_;
  const Layout::Kind kind_;
  mutable std::mutex mutex_;
  Placement placement_;  // guarded by mutex_
  Names known_;          // guarded by mutex_
};

}  // namespace easyretry::storage::sql
