#pragma once
// Transactions of the verbs that change something: with the clock that judges them, and tables made as they are needed.

#include <string>
#include <utility>

#include <easyretry/time.h>

#include "storage/history_table.h"
#include "storage/sql/tables.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

class Writes {
 public:
  // `clock`: instead of the server's own; may be null.
  Writes(Pool& pool, Tables& tables, const Clock* clock) : transactions_(pool), tables_(tables), clock_(clock) {}

  // body(session, now) -> answer. It may be run several times, each time from the start.
  template <class Body>
  auto run(const std::string& where, Promise promise, Locks locks, Body body)
      -> Result<decltype(body(std::declval<Session&>(), TimePoint{}))>;

 private:
  Transactions transactions_;
  Tables& tables_;
  const Clock* const clock_;
};

template <class Body>
auto Writes::run(const std::string& where, Promise promise, Locks locks, Body body)
    -> Result<decltype(body(std::declval<Session&>(), TimePoint{}))> {
  bool looked_again = false;  // a table may be gone that was known: dropped by another instance, when it had left
  while (true) {
    std::string missing;
    bool gone = false;
    bool changed = false;
    auto result = transactions_.run(where, promise, locks, [&](Session& session, TimePoint server) {
      try {
        return body(session, clock_ != nullptr ? clock_->now() : server);
      } catch (const MissingTable& table) {
        missing = table.name;
        throw ServerError{Trouble::no_table, table.name};
      } catch (const LayoutChanged&) {
        changed = true;
        throw ServerError{Trouble::no_table, "the tables are being split"};
      } catch (const ServerError& error) {
        gone = error.trouble() == Trouble::no_table;
        throw;
      }
    });
    if (changed) continue;
    if (gone) tables_.forget();
    if (gone && !std::exchange(looked_again, true)) continue;
    if (missing.empty()) return result;
    try {
      tables_.ensure(missing);
    } catch (const ServerError& error) {
      return tl::make_unexpected(to_error(error, where, Point::before_commit));
    }
  }
}

// The table for what ends now. Throws MissingTable.
inline std::string history_for(const Tables& tables, TimePoint now) {
  return tables.required(history_table(now));
}

}  // namespace easyretry::storage::sql
