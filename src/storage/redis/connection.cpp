#include "storage/redis/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
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

Command greeting(const Address& address, std::string_view password) {
  auto command = Command::of("AUTH");
  if (!address.user.empty()) command.add(address.user);
  return command.add(password);
}

// The meaning of an error.
struct Meaning {
  std::string_view begins;
  Trouble trouble;
  std::string_view remedy;
};

constexpr std::string_view kMoving = "the cluster is being changed; if this lasts, see CLUSTER NODES";
constexpr std::string_view kCredentials = "check the user and the password in the url";

// The first match counts.
constexpr Meaning kMeanings[] = {
    {"LOADING", Trouble::overloaded, "the server is loading its data after a start; it will be ready soon"},
    {"BUSY ", Trouble::overloaded, "a script of another client blocks the server; SCRIPT KILL ends it"},
    {"READONLY", Trouble::overloaded, "this is a replica; connect to the primary"},
    {"MASTERDOWN", Trouble::overloaded, "this is a replica that has lost its primary; connect to the primary"},
    {"NOREPLICAS", Trouble::overloaded, "min-replicas-to-write requires replicas that are not connected"},
    {"OOM", Trouble::overloaded, "the server's memory is full; raise maxmemory. Stored tasks can still end"},
    {"MISCONF", Trouble::overloaded, "the server cannot write to its disk; free space or see its log"},
    {"ERR max number of clients", Trouble::overloaded,
     "raise maxclients of the server, or lower `connections` of the urls"},
    {"CLUSTER ", Trouble::refused, "this is a node of a Redis Cluster; use redis+cluster://"},
    {"MOVED", Trouble::overloaded, kMoving},
    {"ASK", Trouble::overloaded, kMoving},
    {"TRYAGAIN", Trouble::overloaded, "the slot is moving from one server to another; it will be ready soon"},
    {"CLUSTERDOWN", Trouble::overloaded,
     "a primary of the cluster has failed and no replica has taken its place yet; with cluster-require-full-coverage "
     "no, the others keep working"},
    {"ERR This instance has cluster support disabled", Trouble::refused, "this is not a Redis Cluster; use redis://"},
    {"NOAUTH", Trouble::refused, "the server requires a password: redis://user:password@host"},
    {"WRONGPASS", Trouble::refused, kCredentials},
    {"ERR AUTH", Trouble::refused, kCredentials},
    {"ERR Client sent AUTH", Trouble::refused, "the server has no password; leave it out of the url"},
    {"ERR invalid password", Trouble::refused, kCredentials},
    {"NOPERM", Trouble::refused, "the user may not do this: ACL SETUSER <user> ~{<prefix>*}* +@all, see docs/redis.md"},
    {"ERR DB index", Trouble::refused, "the number after the / of the url is not a database of this server"},
    {"ERR invalid DB", Trouble::refused, "what follows the / of the url must be the number of a database"},
    {"WRONGTYPE", Trouble::bad_data,
     "something else is stored under a key of EasyRetry; use another prefix= or remove it"},
    {"ERR unknown command", Trouble::refused, "EasyRetry needs Redis 7.0 or newer"},
};

const Meaning* meaning_of(std::string_view reply) {
  // A command in a script fails with "ERR WRONGTYPE … script: …", or with the plain error.
  if (reply.starts_with("ERR WRONGTYPE")) reply.remove_prefix(4);
  const auto* found = std::ranges::find_if(kMeanings, [&](const Meaning& m) { return reply.starts_with(m.begins); });
  return found == std::end(kMeanings) ? nullptr : found;
}

}  // namespace

server::ServerError server_error(std::string_view reply) {
  const Meaning* meaning = meaning_of(reply);
  std::string text{reply};
  if (meaning != nullptr) text.append(": ").append(meaning->remedy);
  return {meaning != nullptr ? meaning->trouble : Trouble::refused, text};
}

bool spoils_connection(std::string_view reply) {
  return reply.starts_with("READONLY") || reply.starts_with("MASTERDOWN") || reply.starts_with("NOAUTH");
}

bool may_be_elsewhere(std::string_view reply) {
  return reply.starts_with("READONLY") || reply.starts_with("MASTERDOWN") || reply.starts_with("CLUSTERDOWN") ||
         reply.starts_with("LOADING");
}

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
  const std::string password = address.password.current();
  if (!password.empty()) run(greeting(address, password));
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
  order(command);
  Reply reply = receive();
  if (!reply.is_error()) return reply;
  broken_ = broken_ || spoils_connection(reply.text());
  throw server_error(reply.text());
}

// WAIT covers all writes of this connection, so one is enough.
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

void Connection::order(const Command& command) {
  append(command);
  send();
}

std::optional<Reply> Connection::arrived() {
  void* reply = nullptr;
  if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) give_up(true);
  if (reply == nullptr) return std::nullopt;
  return Reply{static_cast<redisReply*>(reply)};
}

void Connection::read() {
  char byte = 0;
  const bool nothing = recv(context_->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
  if (nothing && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (redisBufferRead(context_.get()) != REDIS_OK) give_up(true);
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

// The reason why the writes count as lost; null if the replicas have confirmed them.
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

// The server starts no request before it has all of it. Of several requests it may have only the first.
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
