#include "storage/redis/connection.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace easyretry::storage::redis {
namespace {

using sql::ServerError;
using sql::Trouble;

timeval seconds(std::chrono::seconds duration) {
  return {.tv_sec = duration.count(), .tv_usec = 0};
}

redisContext* connect(const Address& address) {
  redisContext* context = redisConnectWithTimeout(address.host.c_str(), address.port, seconds(address.connect_timeout));
  if (context == nullptr) throw ServerError{Trouble::overloaded, "no memory for a connection"};
  return context;
}

Command greeting(const Address& address) {
  auto command = Command::of("AUTH");
  if (!address.user.empty()) command.add(address.user);
  return command.add(address.password);
}

}  // namespace

Connection::Connection(const Address& address) : context_(connect(address), redisFree) {
  if (context_->err != 0) {
    throw ServerError{Trouble::gone, address.host + ":" + std::to_string(address.port) + ": " + context_->errstr +
                                         ": see that the server runs and listens there"};
  }
  redisSetTimeout(context_.get(), seconds(address.patience));
  redisEnableKeepAlive(context_.get());
  if (!address.password.empty()) run(greeting(address));
  if (address.database != 0) run(Command::of("SELECT", std::string_view{std::to_string(address.database)}));
  run(Command::of("CLIENT", "SETNAME", "easyretry"));
}

bool Connection::broken() const {
  if (broken_) return true;
  char byte = 0;
  const auto waiting = recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return waiting >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);  // nothing is to be read between commands
}

Reply Connection::run(const Command& command) {
  append(command);
  send();
  Reply reply = receive();
  if (!reply.is_error()) return reply;
  broken_ = broken_ || spoils_connection(reply.text());
  throw server_error(reply.text());
}

Reply Connection::run(const Call& call, const Confirmation& confirmation) {
  Reply reply = call_once(call, confirmation);
  if (reply.is_error() && is_no_script(reply.text())) {
    run(Command::of("SCRIPT", "LOAD", call.script.code));
    reply = call_once(call, confirmation);
  }
  if (reply.is_error()) broken_ = broken_ || spoils_connection(reply.text());
  return reply;
}

Reply Connection::call_once(const Call& call, const Confirmation& confirmation) {
  const std::string key_count = std::to_string(call.keys.size());
  auto command = Command::of("EVALSHA", call.script.sha, std::string_view{key_count});
  for (const std::string& key : call.keys) command.add(key);
  for (const std::string& argument : call.arguments) command.add(argument);
  append(command);
  const std::string replicas = std::to_string(confirmation.replicas);
  const std::string patience = std::to_string(confirmation.patience_ms);
  if (confirmation.replicas > 0) append(Command::of("WAIT", std::string_view{replicas}, std::string_view{patience}));
  send();
  Reply reply = receive();
  if (confirmation.replicas > 0) {
    const Reply confirmed = receive();
    const bool wrote = !reply.is_error() && (call.wrote == nullptr || call.wrote(reply));
    if (wrote && confirmed.integer() < confirmation.replicas) {
      throw LostReply{Trouble::overloaded, std::to_string(confirmed.integer()) + " of " + replicas +
                                               " replicas have confirmed it within " + patience + " ms"};
    }
  }
  return reply;
}

void Connection::append(const Command& command) {
  if (redisAppendCommandArgv(context_.get(), command.size(), command.arguments(), command.sizes()) != REDIS_OK) {
    give_up(false);
  }
}

// The server does nothing before it has a whole request.
void Connection::send() {
  int done = 0;
  while (done == 0) {
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) give_up(false);
  }
}

Reply Connection::receive() {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK || reply == nullptr) give_up(true);
  return Reply{static_cast<redisReply*>(reply)};
}

void Connection::give_up(bool sent) {
  broken_ = true;
  const bool silent = context_->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
  const Trouble trouble = silent ? Trouble::silent : Trouble::gone;
  const std::string why = silent ? "the server says nothing" : context_->errstr;
  if (sent) throw LostReply{trouble, why};
  throw ServerError{trouble, why};
}

}  // namespace easyretry::storage::redis
