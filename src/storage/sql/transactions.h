#pragma once
// Runs the body of a verb in a transaction, again where the server asks for it, and says what its failure means.

#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <easyretry/error.h>

#include "base/random.h"
#include "storage/sql/pool.h"

namespace easyretry::storage::sql {

// Nothing is wrong with the server: what was asked for must not be done. Undoes the transaction it is thrown from.
struct Refusal : std::exception {
  explicit Refusal(Error why) : error(std::move(why)) {}
  const char* what() const noexcept override { return error.detail.c_str(); }
  Error error;
};

enum class Point { before_commit, commit };

inline Error to_error(const ServerError& error, std::string_view where, Point point) {
  Errc code = Errc::unavailable;
  if (error.trouble() == Trouble::bad_data) code = Errc::invalid_argument;
  const bool lost = error.trouble() == Trouble::gone || error.trouble() == Trouble::silent;
  if (lost && point == Point::commit) code = Errc::in_doubt;
  return {code, std::string{where}, error.what()};
}

class Transactions {
 public:
  explicit Transactions(Pool& pool) : pool_(pool), random_(base::random_seed()) {}

  // body(session, now) -> answer. It may be run several times, each time from the start.
  template <class Body>
  auto run(std::string_view where, Promise promise, Body body)
      -> Result<decltype(body(std::declval<Session&>(), TimePoint{}))> {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    for (int tries = 1;; ++tries) {
      Point point = Point::before_commit;
      try {
        return attempt(promise, point, body);
      } catch (const ServerError& error) {
        const bool enough = tries == kTries || std::chrono::steady_clock::now() > until;
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
  // A deadlock is over when one of the two gave way; a connection that a restart of the server broke is known by its
  // first use.
  static constexpr int kTries = 8;
  // A lock that is never given up must not hold a caller for kTries times as long as the server waits for it.
  static constexpr std::chrono::seconds kPatience{5};

  template <class Body>
  auto attempt(Promise promise, Point& point, Body& body) {
    const auto session = pool_.take();
    try {
      session->sums().clear();
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
    return error.trouble() == Trouble::again || (error.trouble() == Trouble::gone && point == Point::before_commit);
  }

  // 1 ms doubling, half of it by chance, so that two that met do not meet again.
  void pause(int tries) {
    const double millis = static_cast<double>(1 << tries) * (0.5 + random_.unit() / 2);
    std::this_thread::sleep_for(std::chrono::microseconds{static_cast<std::int64_t>(millis * 500)});
  }

  Pool& pool_;
  base::Random random_;
};

}  // namespace easyretry::storage::sql
