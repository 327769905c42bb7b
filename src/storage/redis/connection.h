#pragma once
// One connection to a server. For one thread at a time. Everything throws server::ServerError; a LostReply where the
// server may have done what it was asked.

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/redis/address.h"
#include "storage/redis/errors.h"
#include "storage/redis/reply.h"
#include "storage/redis/scripts.h"

namespace easyretry::storage::redis {

// A command in the making. What it is given must live until it is sent.
class Command {
 public:
  Command& add(std::string_view argument) {
    sizes_.push_back(argument.size());
    arguments_.push_back(argument.data());
    return *this;
  }
  template <class... Arguments>
  static Command of(Arguments... arguments) {
    Command command;
    (command.add(arguments), ...);
    return command;
  }

  int size() const { return static_cast<int>(arguments_.size()); }
  const char** arguments() const { return const_cast<const char**>(arguments_.data()); }
  const std::size_t* sizes() const { return sizes_.data(); }

 private:
  std::vector<const char*> arguments_;
  std::vector<std::size_t> sizes_;
};

// Who answers commands, and throws what goes wrong: a connection, or the way to whoever has a slot.
using Ask = std::function<Reply(const Command&)>;

// How many replicas must have a write before it is answered, and how long one waits for them.
struct Confirmation {
  int replicas = 0;
  int patience_ms = 1000;
};

// A command that is sent together with others.
struct Posting {
  const Command* command = nullptr;
  bool asking = false;                    // its slot is on the way to this server
  bool (*wrote)(const Reply&) = nullptr;  // whether there is anything for replicas to confirm; null: always
};

// One of the two. An error of the server is a reply.
struct Answer {
  std::optional<Reply> reply{};
  std::exception_ptr failure{};
};

class Connection {
 public:
  explicit Connection(const Address& address);

  // Or closed by the server while nobody used it.
  bool broken() const;
  // It leads to a server that will not do what it is for.
  void spoil() { broken_ = true; }

  // An error of the server is thrown.
  Reply run(const Command& command);

  // Sends them all, without waiting; then collect() has an answer for each, in order.
  void post(std::span<const Posting> postings, const Confirmation& confirmation);
  std::vector<Answer> collect();

 private:
  void introduce(const Address& address);
  Answer collect_one(const Posting& posting);
  std::exception_ptr unconfirmed_by_replicas();
  void confirm(std::vector<Answer>& answers);
  void append(const Command& command);
  void send();
  Reply receive();
  [[noreturn]] void give_up(bool sent);

  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  bool broken_ = false;
  int appended_ = 0;  // commands that are not sent yet
  std::vector<Posting> posted_;
  Confirmation confirmation_;
};

}  // namespace easyretry::storage::redis
