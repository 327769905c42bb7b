#pragma once
// Verbs that change nothing, or may change it twice: no transaction, and said again where that helps.

#include <string>
#include <utility>

#include "storage/sql/tables.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

class Reads {
 public:
  Reads(Pool& pool, Tables& tables) : pool_(pool), tables_(tables) {}

  // body(session) -> answer. It may be run several times, each time from the start.
  template <class Body>
  auto run(const std::string& where, Body body) -> Result<decltype(body(std::declval<Session&>()))> {
    for (int tries = 1;; ++tries) {
      try {
        const auto session = pool_.take();
        return body(*session);
      } catch (const LayoutChanged&) {
        continue;
      } catch (const Refusal& refusal) {
        return tl::make_unexpected(refusal.error);
      } catch (const ServerError& error) {
        const bool dropped = error.trouble() == Trouble::no_table;  // by another instance, when it had left
        if (dropped) tables_.forget();
        const bool stale = dropped || error.trouble() == Trouble::gone || error.trouble() == Trouble::again;
        if (stale && tries < kTries) continue;
        return tl::make_unexpected(to_error(error, where, Point::before_commit));
      } catch (const std::exception& error) {
        return fail(Errc::unavailable, where, error.what());
      }
    }
  }

 private:
  static constexpr int kTries =
      6;  // more than a pool has sessions: those that a restart of the server broke are used up

  Pool& pool_;
  Tables& tables_;
};

}  // namespace easyretry::storage::sql
