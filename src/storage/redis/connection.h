#pragma once
// One connection to a server, with its commands, replies and errors. For one thread at a time. Throws
// server::ServerError, and LostReply if the server may have executed the command.

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hiredis.h>

#include "storage/redis/address.h"
#include "storage/redis/scripts.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::redis {

// The server may have the whole request, and no reply came: it may have been executed.
class LostReply : public server::ServerError {
 public:
  using ServerError::ServerError;
};

// The meaning of an error that the server answers with, and what to do about it.
server::ServerError server_error(std::string_view reply);

// The server will not accept our commands. A new connection may lead to another server.
bool spoils_connection(std::string_view reply);

// The server, or the cluster, is not ready for this slot. By now another server may have it.
bool may_be_elsewhere(std::string_view reply);

inline bool is_no_script(std::string_view reply) {
  return reply.starts_with("NOSCRIPT");
}
inline bool is_stale(std::string_view reply) {
  return reply.starts_with("STALE");
}

// A reply of the server, or a part of one; a part lives as long as the whole. A reply of an unexpected kind reads as 0,
// "" or nothing.
class ReplyView {
 public:
  explicit ReplyView(const redisReply* reply) : reply_(reply) {}

  bool is_error() const { return reply_->type == REDIS_REPLY_ERROR; }
  std::string_view text() const {
    return reply_->str != nullptr ? std::string_view{reply_->str, reply_->len} : std::string_view{};
  }
  std::int64_t integer() const { return reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0; }

  std::size_t size() const { return reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0; }
  bool has(std::size_t i) const { return i < size() && reply_->element[i]->type != REDIS_REPLY_NIL; }
  // Requires i < size().
  ReplyView part(std::size_t i) const { return ReplyView{reply_->element[i]}; }
  std::string_view text(std::size_t i) const { return has(i) ? part(i).text() : std::string_view{}; }
  std::int64_t integer(std::size_t i) const { return has(i) ? part(i).integer() : 0; }

 private:
  const redisReply* reply_;
};

class Reply : public ReplyView {
 public:
  explicit Reply(redisReply* reply) : ReplyView(reply), whole_(reply, freeReplyObject) {}

 private:
  std::unique_ptr<redisReply, decltype(&freeReplyObject)> whole_;
};

// A command. Its arguments must live until it is sent.
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

// Runs a command on one connection, or through a link to the server of a slot. Throws on every error.
using Ask = std::function<Reply(const Command&)>;

// How many replicas must confirm a write before it is answered, and how long to wait for them.
struct Confirmation {
  int replicas = 0;
  int patience_ms = 1000;
};

// One of several commands that are sent together.
struct Posting {
  const Command* command = nullptr;
  bool asking = false;                    // its slot is being moved to this server
  bool (*wrote)(const Reply&) = nullptr;  // whether replicas have anything to confirm; null: always
};

// Either a reply or a failure. An error reply from the server counts as a reply.
struct Answer {
  std::optional<Reply> reply{};
  std::exception_ptr failure{};
};

class Connection {
 public:
  explicit Connection(const Address& address);

  // Also true if the server has closed it while it was idle.
  bool broken() const;
  // Marks it as broken: the server does not have the expected role.
  void spoil() { broken_ = true; }

  // Throws if the server replies with an error.
  Reply run(const Command& command);

  // post() sends all commands without waiting. Then collect() returns an answer for each, in order.
  void post(std::span<const Posting> postings, const Confirmation& confirmation);
  std::vector<Answer> collect();

  // For a connection with a subscription, where messages arrive at any time. None of these functions waits.
  int socket() const { return context_->fd; }
  void order(const Command& command);
  void read();                     // reads the bytes that have arrived
  std::optional<Reply> arrived();  // the next complete reply or message

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
  int appended_ = 0;  // commands not sent yet
  std::vector<Posting> posted_;
  Confirmation confirmation_;
};

}  // namespace easyretry::storage::redis
