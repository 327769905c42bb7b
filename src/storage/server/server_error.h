#pragma once
// Failures of a server, rows that other transactions hold, and servers that have become read-only.

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <easyretry/error.h>

namespace easyretry::storage::server {

enum class Trouble {
  again,       // a deadlock or a lost race: the same transaction may succeed at once
  locked,      // another transaction holds a row and did not release it in time
  gone,        // the connection failed: nothing was done, unless it failed during the commit
  silent,      // like gone, but noticed by a timeout: another attempt would take as long
  overloaded,  // the server refuses for now: too many connections, out of space, a timeout, read-only
  refused,     // the server will never do this: no rights, no such database
  bad_data,    // the server cannot store these values
  no_table,    // a table is missing; it can be created
};

class ServerError : public std::runtime_error {
 public:
  ServerError(Trouble trouble, const std::string& what) : std::runtime_error(what), trouble_(trouble) {}
  Trouble trouble() const { return trouble_; }

 private:
  Trouble trouble_;
};

// The server works, but the request must not be carried out. Rolls back the transaction it is thrown from.
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

// How to treat rows that other transactions hold.
enum class Locks {
  waited_for,    // wait as long as the server does, several times, as long as the caller's patience lasts
  polled,        // wait a moment; then try again and again, without keeping a connection meanwhile
  told,          // wait a moment; then answer `conflict`
  told_at_once,  // answer `conflict`
};

// Remembers for a while that a locked row was found. During that time it is better to look for locks before every
// change than to run into one and start again. Safe to use from any thread.
class Caution {
 public:
  using Steady = std::chrono::steady_clock;

  bool advised() const {
    const Steady::time_point until = until_.load(std::memory_order_relaxed);
    return until != Steady::time_point{} && Steady::now() < until;
  }
  void advise() { until_.store(Steady::now() + kAWhile, std::memory_order_relaxed); }

 private:
  static constexpr std::chrono::seconds kAWhile{2};

  std::atomic<Steady::time_point> until_{};
};

// How often a connection of a store has found its server read-only, so that another server is the primary now. Then all
// connections of the store are replaced, also those that only read: the rows of the old primary no longer change.
// Copies count together. Safe to use from any thread.
class Demotions {
 public:
  void add() { ++*count_; }
  int count() const { return *count_; }

 private:
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace easyretry::storage::server
