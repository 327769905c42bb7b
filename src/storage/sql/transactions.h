#pragma once
// Runs the body of a verb on a server: repeats it where that helps, and says what a failure means.

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include <easyretry/time.h>

#include "base/pause_clock.h"
#include "base/random.h"
#include "base/result.h"
#include "storage/history.h"
#include "storage/sql/tables.h"

namespace easyretry::storage::sql {

// In a transaction.
class Transactions {
 public:
  explicit Transactions(Pool& pool, const base::PauseClock& clock = base::system_pauses())
      : pool_(pool), clock_(clock), random_(base::random_seed()) {}

  // body(session, now) -> answer. It may be run several times, each time from the start.
  template <class Body>
  auto run(std::string_view where, Promise promise, Locks locks, Body body)
      -> Result<decltype(body(std::declval<Session&>(), TimePoint{}))> {
    const Instant begun = clock_.now();
    bool locked = false;
    for (int tries = 1;; ++tries) {
      Point point = Point::before_commit;
      try {
        return attempt(promise, wait_of(locks, locked), point, body);
      } catch (const ServerError& error) {
        locked = error.trouble() == Trouble::locked;
        const auto gone = clock_.now() - begun;
        if (locked && (locks == Locks::told_at_once || (locks == Locks::told && gone > kMoment))) {
          return fail(Errc::conflict, where, error.what());
        }
        const bool enough = (tries >= kTries && !(locked && locks == Locks::polled)) || gone > kPatience;
        if (enough || !worth_repeating(error, point)) return tl::make_unexpected(to_error(error, where, point));
      } catch (const Refusal& refusal) {
        return tl::make_unexpected(refusal.error);
      } catch (const std::exception& error) {
        return fail(Errc::unavailable, where, error.what());
      }
      pause(tries);
    }
  }

 private:
  // A deadlock ends when one of the two gives way. A connection that broke in a restart of the server fails at its
  // first use.
  static constexpr int kTries = 8;
  // A lock that is never released must not hold a caller for kTries times as long as the server waits for it.
  static constexpr std::chrono::seconds kPatience{5};
  // By then, two of our own transactions that need the same row, such as a renewal and the end of a task, have ended.
  static constexpr std::chrono::milliseconds kMoment{30};

  static LockWait wait_of(Locks locks, bool locked_before) {
    if (locks == Locks::waited_for) return LockWait::patient;
    return locks == Locks::told_at_once || locked_before ? LockWait::none : LockWait::brief;
  }

  template <class Body>
  auto attempt(Promise promise, LockWait wait, Point& point, Body& body) {
    const auto session = pool_.take();
    try {
      session->sums().clear();
      session->wait_for_locks(wait);
      const TimePoint now = session->begin(promise);
      auto answer = body(*session, now);
      point = Point::commit;
      session->commit();
      return answer;
    } catch (...) {
      if (!session->broken()) session->roll_back();
      throw;
    }
  }

  static bool worth_repeating(const ServerError& error, Point point) {
    return error.trouble() == Trouble::again || error.trouble() == Trouble::locked ||
           (error.trouble() == Trouble::gone && point == Point::before_commit);
  }

  // 1 ms, doubled each time, half of it random, so that two transactions do not collide again.
  void pause(int tries) {
    const double millis = static_cast<double>(1 << std::min(tries, kTries)) * (0.5 + random_.unit() / 2);
    clock_.sleep(std::chrono::microseconds{static_cast<std::int64_t>(millis * 500)});
  }

  Pool& pool_;
  const base::PauseClock& clock_;
  base::Random random_;
};

// Without a transaction: for a verb that changes nothing, or whose change may be repeated.
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
        const bool dropped = error.trouble() == Trouble::no_table;  // by another instance, after it left the window
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

// Transactions, and the clock that decides for them. Tables are created when they are needed.
class Writes {
 public:
  // `clock` replaces the server's; it may be null.
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
  bool looked_again = false;  // another instance may have dropped a table that had left the window
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

// The table for tasks that end now. Throws MissingTable.
inline std::string history_for(const Tables& tables, TimePoint now) {
  return tables.required(history_table(now));
}

}  // namespace easyretry::storage::sql
