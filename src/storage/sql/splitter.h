#pragma once
// From hash(n) to more tables, while instances work. Every step may be cut off anywhere, and the next run continues
// from there. Meant to be run once at a time; several do no harm.
//
// 1. The layout becomes hash(16)>hash(32) when all inserts by the old one have committed. From then on no new rows come
//    to the tables that are being emptied, and a search for a task looks in both places, the old one first.
// 2. Rows are moved, a few hundred a transaction, with their leases and versions: a task that is being run keeps its
//    worker.
// 3. The layout becomes hash(32).

#include <string>

#include "storage/sql/transactions.h"
#include "storage/table_router.h"

namespace easyretry::storage::sql {

class Splitter {
 public:
  Splitter(Pool& pool, Tables& tables, Reads& reads, Writes& writes, std::string where)
      : pool_(pool), tables_(tables), reads_(reads), writes_(writes), where_(std::move(where)) {}

  // The remaining moves, with the server's estimates. Empty if the split is done.
  std::vector<SplitMove> plan(const Layout& to);
  // Both throw std::invalid_argument if the tables cannot be split this way, Refusal and ServerError.
  void run(const SplitRequest& request);

 private:
  // The server's estimates for the tables, after reading the current layout.
  std::vector<TableFacts> look();
  bool is_done(const Layout& to) const;
  Placement begin(const Layout& to);
  void move(const TableMove& move, const TableRouter& router, const SplitRequest& request);
  Layout from(const Layout& to) const;

  Pool& pool_;
  Tables& tables_;
  Reads& reads_;
  Writes& writes_;
  const std::string where_;
};

}  // namespace easyretry::storage::sql
