#pragma once
// The registrations and subscriptions that this client wants, and which of them the current server has confirmed.
//
// Users change entries. Only the session's thread sends changes to the server, repeats unconfirmed ones, and sends
// everything again on a new connection. So a change made without a connection takes effect later, and two changes of
// one entry reach the server in order. Thread-safe.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nacos/connection.h"

namespace easyretry::nacos {

class DesiredState {
 public:
  // Registrations come first, so that the lists we subscribe to contain us.
  enum class Kind { registration, subscription };
  struct Key {
    Kind kind;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Ticket = std::uint64_t;  // identifies one change of an entry

  struct Pending {
    Key key;
    Ticket ticket;
    Message request;
  };

  // Replaces the entry of the key.
  Ticket set(const Key& key, Message on, Message off);
  // Returns 0 if there was no such entry.
  Ticket withdraw(const Key& key);

  // Waits until the server has confirmed the change. in_doubt: not within this time; it stays pending.
  // invalid_argument: the server has refused it, and it is dropped.
  Result<void> wait(const Key& key, Ticket ticket, Millis timeout);

  // The current outcome, with the same errors as wait(). Also succeeds if there is no entry.
  Result<void> standing(const Key& key) const;

  // The changes to send now.
  std::vector<Pending> due(Instant now) const;
  Instant next_due() const;
  std::size_t unconfirmed() const;

  void confirm(const Pending& done);
  void refuse(const Pending& refused, Error error);
  void postpone(const Pending& failed, Error error, Instant until);
  // The server has lost what it had confirmed.
  void doubt(const Key& key);
  std::vector<Key> confirmed() const;  // that are wanted and confirmed
  void forget_confirmations();         // for a new connection, whose server knows nothing

 private:
  struct Entry {
    Ticket ticket = 0;
    bool wanted = false;
    Message on;
    Message off;
    bool confirmed = false;
    bool refused = false;
    std::optional<Error> trouble{};
    Instant not_before = Instant::min();

    bool open() const { return !confirmed && !refused; }
    Result<void> standing(const std::string& not_yet) const;
  };
  // Null if the entry has changed since.
  Entry* find(const Key& key, Ticket ticket);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  Ticket last_ticket_ = 0;
  std::map<Key, Entry> entries_;
};

}  // namespace easyretry::nacos
