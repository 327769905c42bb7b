#include "storage/redis/notifier.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <poll.h>

#include "base/random.h"
#include "storage/redis/connection.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::redis {
namespace {

using server::Notifier;
using server::ServerError;
using server::Trouble;
using Steady = Notifier::Steady;

// Where a notifier talks, and which messages are its own.
struct Channel {
  Link& link;
  Slot slot;
  std::string name;    // {easyretry}:due:0; the databases of a server share its channels
  std::string sender;  // begins every message: 16 digits, and then the namespace

  std::unique_ptr<Connection> connect() const {
    Address address = link.address_of(slot);
    address.connect_timeout = address.patience = Notifier::kPatience;
    try {
      return std::make_unique<Connection>(address);
    } catch (const ServerError&) {
      link.look_again(address);
      throw;
    }
  }

  bool can_listen() const {
    try {
      connect()->run(Command::of("SUBSCRIBE", std::string_view{name}));
      return true;
    } catch (const ServerError& error) {
      return error.trouble() != Trouble::refused;  // the notifier goes on trying while the server is away
    }
  }
};

// The connection that listens. Throws ServerError when it is lost.
class Listener {
 public:
  Listener(Notifier& notifier, const Channel& channel)
      : notifier_(notifier), channel_(channel), connection_(channel.connect()) {
    connection_->order(Command::of("SUBSCRIBE", std::string_view{channel.name}));
  }

  // Does what can be done without waiting.
  void advance() {
    connection_->read();
    while (const auto message = connection_->arrived()) take(*message);
    if (Steady::now() < next_) return;
    if (asked_) throw ServerError{Trouble::silent, "the server does not answer"};
    connection_->order(Command::of("PING"));
    asked_ = true;
    next_ = Steady::now() + Notifier::kPatience;
  }
  int socket() const { return connection_->socket(); }
  Steady::time_point next() const { return next_; }
  bool subscribed() const { return subscribed_; }

 private:
  void take(const Reply& message) {
    if (message.is_error()) throw server_error(message.text());
    asked_ = false;
    next_ = Steady::now() + Notifier::kQuiet;
    if (message.text(0) == "message") {
      const std::string_view said = message.text(2);
      if (!said.starts_with(channel_.sender)) wake(said);
    } else if (!std::exchange(subscribed_, true)) {
      notifier_.wake_all();
    }
  }

  void wake(std::string_view said) {
    if (said.size() >= channel_.sender.size()) notifier_.wake(std::string{said.substr(channel_.sender.size())});
  }

  Notifier& notifier_;
  const Channel& channel_;
  const std::unique_ptr<Connection> connection_;
  bool asked_ = true;  // something that it has not answered yet
  bool subscribed_ = false;
  Steady::time_point next_ = Steady::now() + Notifier::kPatience;
};

// Both connections, each opened when it is needed.
class Talk {
 public:
  Talk(Notifier& notifier, const Channel& channel) : notifier_(notifier), channel_(channel) {}
  ~Talk() { notifier_.requeue_unconfirmed(); }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  // Until the notifier has finished; throws ServerError when a connection is lost.
  void run() {
    while (true) {
      if (!listener_ && notifier_.has_listeners()) listener_.emplace(notifier_, channel_);
      if (listener_) listener_->advance();
      if (listener_ && listener_->subscribed()) notifier_.wake_newcomers();
      publish();
      if (notifier_.finished()) return;
      wait();
    }
  }
  bool worked() const { return published_ || (listener_ && listener_->subscribed()); }

 private:
  void publish() {
    if (Steady::now() < next_publish_) return;
    const std::set<std::string> namespaces = notifier_.take_pending();
    if (namespaces.empty()) return;
    next_publish_ = Steady::now() + Notifier::kInterval;
    if (!publishing_ || publishing_->broken()) publishing_ = channel_.connect();
    for (const std::string& name_space : namespaces) say(name_space);
    published_ = true;
    notifier_.confirm_sent();
  }

  void say(const std::string& name_space) {
    const std::string message = channel_.sender + name_space;
    try {
      publishing_->run(Command::of("PUBLISH", std::string_view{channel_.name}, std::string_view{message}));
    } catch (const ServerError& error) {
      if (error.trouble() != Trouble::refused) throw;  // refused: this user may not, now or later
    }
  }

  void wait() {
    auto until = listener_ ? listener_->next() : Steady::time_point::max();
    if (notifier_.has_pending()) until = std::min(until, next_publish_);
    notifier_.wait(listener_ ? listener_->socket() : -1, POLLIN, until);
  }

  Notifier& notifier_;
  const Channel& channel_;
  std::optional<Listener> listener_;
  std::unique_ptr<Connection> publishing_;
  bool published_ = false;
  Steady::time_point next_publish_{};
};

bool talk(Notifier& notifier, const Channel& channel) {
  Talk talk{notifier, channel};
  try {
    talk.run();
  } catch (const ServerError&) {
    // It is replaced, and the connections of the store say what is wrong.
  }
  return talk.worked();
}

std::string random_digits() {
  base::Random random{base::random_seed()};
  std::string digits;
  while (digits.size() < 16) digits += "0123456789abcdef"[static_cast<std::size_t>(random.unit() * 16)];
  return digits;
}

}  // namespace

std::unique_ptr<Notifier> make_notifier(Link& link, const std::string& prefix, int database) {
  const auto channel = std::make_shared<const Channel>(
      Channel{link, slot_of(prefix), "{" + prefix + "}:due:" + std::to_string(database), random_digits()});
  return std::make_unique<Notifier>([channel](Notifier& notifier) { return talk(notifier, *channel); },
                                    [channel] { return channel->can_listen(); });
}

}  // namespace easyretry::storage::redis
