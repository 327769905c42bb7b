#pragma once
// Keeps one connection to one of the servers.
//
//              handshake done                          stream ended, server silent, server forgot us
//   connecting ──────────────► running ───────────────────────────────────────────────► connecting
//        ▲  │ failed: the next server, after a pause
//        └──┘
//
// One thread connects, sends health checks, renews the login, and does the client's own work in between, so that
// requests reach a server in one order. The public functions may be called from any thread.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>

#include "base/random.h"
#include "nacos/connection.h"
#include "nacos/login.h"
#include "nacos/options.h"
#include "nacos/protocol.h"

namespace easyretry::nacos {

struct SessionHooks {
  // Returns the number of a connection that is about to be used. Empty: the session counts them.
  std::function<std::uint64_t()> number{};
  // On the session's thread: there is a new connection, with this number, and its server knows nothing about us.
  std::function<void(std::uint64_t)> connected;
  // On the session's thread, while connected: does the client's work and returns when to call it again.
  std::function<Instant()> work;
  // On gRPC's threads: must not block. Handles a request of the server; returns whether it was understood, and so to be
  // acknowledged. May throw JsonError.
  std::function<bool(const ServerRequest&, std::uint64_t connection)> receive;
};

class Session {
 public:
  Session(const ClientOptions& options, Module module, SessionHooks hooks);
  ~Session();  // returns promptly, whatever it is doing
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // If there is no connection, waits for one as long as for an answer. The reply may still be an error of the server.
  Result<Reply> call(const Message& request);
  // The same, but an error reply is an error; returns the body.
  Result<JsonDocument> ask(const Message& request);

  void wake();  // makes the session call work() soon
  Status status() const;

 private:
  struct Link {  // a connection and what belongs to it
    ServerAddress server;
    std::atomic<std::uint64_t> number = 0;  // set when it comes into use
    std::string id{};
    std::shared_ptr<Connection> connection;
    std::shared_ptr<StreamState> state;
    Instant since{};  // in use; for the session's thread
  };
  using LinkPtr = std::shared_ptr<Link>;

  void run();
  void connect();
  void attend(const LinkPtr& link);
  void move(const LinkPtr& from, const std::string& host);
  LinkPtr try_next_server();
  void adopt(const LinkPtr& link);
  void drop(const LinkPtr& link, const std::string& why);
  bool still_there(const Link& link);
  void log_in_if_due(const Link& link);
  void wait(Instant until);

  StreamListener listen_on(const std::shared_ptr<Link>& link);
  void receive(Link& link, const Message& message);
  Result<Reply> exchange(const Link& link, Message request, const std::string& token);
  Result<LinkPtr> wait_for_link(const std::string& request_type);
  bool begin_attempt(const LinkPtr& link);
  void report(const Error& error);

  // Fixed after construction
  const ClientOptions options_;
  const Module module_;
  const SessionHooks hooks_;

  base::Random random_;
  Login login_;
  ServerList servers_;        // for the session's thread
  std::size_t failures_ = 0;  // for the session's thread: attempts since a connection lasted

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_
  LinkPtr link_;     // in use
  LinkPtr attempt_;  // being set up
  bool stopping_ = false;
  bool woken_ = false;
  std::optional<std::string> move_to_;  // the server asked us to reconnect, to this host if not empty
  Status status_;
  std::set<std::string> reported_;  // errors since the last connection; each is logged as a warning once

  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace easyretry::nacos
