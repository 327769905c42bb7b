#pragma once
// One connection to a server. For one thread at a time. Everything throws sql::ServerError; a LostReply where the
// server may have done what it was asked.

#include <memory>
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

struct Call {
  const Script& script;
  const std::vector<std::string>& keys;
  const std::vector<std::string>& arguments;
  bool (*wrote)(const Reply&) = nullptr;  // whether there is anything for replicas to confirm; null: always
};

// How many replicas must have a write before it is answered, and how long one waits for them.
struct Confirmation {
  int replicas = 0;
  int patience_ms = 1000;
};

class Connection {
 public:
  explicit Connection(const Address& address);

  // Or closed by the server while nobody used it.
  bool broken() const;

  // An error of the server is thrown.
  Reply run(const Command& command);
  // Has the server load the script where it does not know it. An error of the server is given as the reply.
  Reply run(const Call& call, const Confirmation& confirmation = {});

 private:
  Reply call_once(const Call& call, const Confirmation& confirmation);
  void append(const Command& command);
  void send();
  Reply receive();
  [[noreturn]] void give_up(bool sent);

  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  bool broken_ = false;
};

}  // namespace easyretry::storage::redis
