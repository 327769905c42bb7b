#pragma once
// What the servers are to know about this client, and what the server of the current connection has confirmed.
//
// Users write wishes; the session's thread alone tells the server, says again what was not confirmed, and says
// everything again on a new connection. So a wish made without a connection comes true later, and two changes of one
// wish reach the server in their order. Safe to use from any thread.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/error.h>

#include "nacos/connection.h"

namespace easyretry::nacos {

class Wishes {
 public:
  // Registrations first, so that the lists we subscribe to contain us.
  enum class Kind { registration, subscription };
  struct Key {
    Kind kind;
    std::string name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Ticket = std::uint64_t;  // of one change of a wish

  struct Pending {
    Key key;
    Ticket ticket;
    Message request;
  };

  // Replaces what was wished before for the key.
  Ticket want(const Key& key, Message on, Message off);
  // 0: there was no such wish.
  Ticket no_longer(const Key& key);

  // Waits until the server has confirmed the change. in_doubt: not in this time, and the wish stands;
  // invalid_argument: the server has refused it, and it is forgotten.
  Result<void> wait(const Key& key, Ticket ticket, Millis timeout);

  // How it is with the wish now, in the same words; ok, too, where there is none.
  Result<void> standing(const Key& key) const;

  // What to tell the server now.
  std::vector<Pending> due(Instant now) const;
  Instant next_due() const;
  std::size_t unconfirmed() const;

  void confirm(const Pending& done);
  void refuse(const Pending& refused, Error error);
  void postpone(const Pending& failed, Error error, Instant until);
  // A server has forgotten what it had confirmed.
  void doubt(const Key& key);
  std::vector<Key> fulfilled() const;  // wanted, and confirmed
  void connection_is_new();            // its server knows nothing

 private:
  struct Wish {
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
  // Null if the wish has changed since.
  Wish* find(const Key& key, Ticket ticket);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  Ticket last_ticket_ = 0;
  std::map<Key, Wish> wishes_;
};

}  // namespace easyretry::nacos
