#include "storage/redis/connection.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

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
                                         ": check that the server is running and listening there"};
  }
  redisSetTimeout(context_.get(), seconds(address.patience));
  redisEnableKeepAlive(context_.get());
  try {
    introduce(address);
  } catch (const LostReply& error) {
    throw ServerError{error.trouble(), error.what()};  // no command was sent yet
  }
}

void Connection::introduce(const Address& address) {
  if (!address.password.empty()) run(greeting(address));
  if (address.database != 0) run(Command::of("SELECT", std::string_view{std::to_string(address.database)}));
  run(Command::of("CLIENT", "SETNAME", "easyretry"));
}

bool Connection::broken() const {
  if (broken_) return true;
  char byte = 0;
  const auto waiting = recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return waiting >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);  // between commands nothing may arrive
}

Reply Connection::run(const Command& command) {
  append(command);
  send();
  Reply reply = receive();
  if (!reply.is_error()) return reply;
  broken_ = broken_ || spoils_connection(reply.text());
  throw server_error(reply.text());
}

// WAIT counts for all writes of this connection, so one is enough.
void Connection::post(std::span<const Posting> postings, const Confirmation& confirmation) {
  posted_.assign(postings.begin(), postings.end());
  confirmation_ = confirmation;
  for (const Posting& posting : posted_) {
    if (posting.asking) append(Command::of("ASKING"));
    append(*posting.command);
  }
  const std::string replicas = std::to_string(confirmation.replicas);
  const std::string patience = std::to_string(confirmation.patience_ms);
  if (confirmation.replicas > 0) append(Command::of("WAIT", std::string_view{replicas}, std::string_view{patience}));
  send();
}

std::vector<Answer> Connection::collect() {
  std::vector<Answer> answers;
  answers.reserve(posted_.size());
  for (const Posting& posting : posted_) {
    const bool is_over = !answers.empty() && answers.back().failure;  // no more replies will come
    answers.push_back(is_over ? Answer{std::nullopt, answers.back().failure} : collect_one(posting));
  }
  if (confirmation_.replicas > 0) confirm(answers);
  posted_.clear();
  return answers;
}

Answer Connection::collect_one(const Posting& posting) {
  Answer answer;
  try {
    if (posting.asking) receive();
    answer.reply = receive();
    broken_ = broken_ || (answer.reply->is_error() && spoils_connection(answer.reply->text()));
  } catch (const LostReply&) {
    answer.failure = std::current_exception();
  }
  return answer;
}

// Why the writes count as lost; null if the replicas have confirmed them.
std::exception_ptr Connection::unconfirmed_by_replicas() {
  try {
    const Reply replicas = receive();
    if (replicas.integer() >= confirmation_.replicas) return nullptr;
    return std::make_exception_ptr(LostReply{
        Trouble::overloaded, std::to_string(replicas.integer()) + " of " + std::to_string(confirmation_.replicas) +
                                 " replicas have confirmed it within " + std::to_string(confirmation_.patience_ms) +
                                 " ms"});
  } catch (const LostReply&) {
    return std::current_exception();
  }
}

void Connection::confirm(std::vector<Answer>& answers) {
  std::exception_ptr unconfirmed = answers.empty() ? nullptr : answers.back().failure;
  if (!unconfirmed) unconfirmed = unconfirmed_by_replicas();
  if (!unconfirmed) return;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& reply = answers[i].reply;
    if (!reply || reply->is_error() || (posted_[i].wrote != nullptr && !posted_[i].wrote(*reply))) continue;
    answers[i] = {std::nullopt, unconfirmed};
  }
}

void Connection::append(const Command& command) {
  ++appended_;
  if (redisAppendCommandArgv(context_.get(), command.size(), command.arguments(), command.sizes()) != REDIS_OK) {
    give_up(false);
  }
}

// The server starts nothing before it has a whole request. Of several requests it may have the first.
void Connection::send() {
  const bool several = std::exchange(appended_, 0) > 1;
  int done = 0;
  while (done == 0) {
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) give_up(several);
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
  const std::string why = silent ? "the server does not answer" : context_->errstr;
  if (sent) throw LostReply{trouble, why};
  throw ServerError{trouble, why};
}

}  // namespace easyretry::storage::redis
