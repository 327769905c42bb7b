#pragma once
// Keeps one connection to one of the servers, for as long as it lives.
//
//              handshake done                          stream ended, server silent, server forgot us
//   connecting ──────────────► running ───────────────────────────────────────────────► connecting
//        ▲  │ failed: the next server, after a pause
//        └──┘
//
// One thread makes connections, asks the server now and then whether it is there, renews the login, and does the
// client's own work in between, so that what is said to a server is said in one order. Its other members may be called
// from any thread.

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
#include "nacos/handshake.h"
#include "nacos/login.h"
#include "nacos/options.h"
#include "nacos/protocol.h"
#include "nacos/server_list.h"
#include "nacos/status.h"
#include "nacos/stream_state.h"

namespace easyretry::nacos {

struct SessionHooks {
  // For a connection that is about to be used: its number. None: they are counted.
  std::function<std::uint64_t()> number{};
  // On the session's thread. A new connection is there, and the server knows nothing of us: the number of the
  // connection.
  std::function<void(std::uint64_t)> connected;
  // On the session's thread, while connected: does what is to be done, and says when to be called again.
  std::function<Instant()> work;
  // On gRPC's threads: must not block. What the server of that connection asks; whether it is understood, and so to be
  // acknowledged. May throw JsonError.
  std::function<bool(const ServerRequest&, std::uint64_t connection)> receive;
};

class Session {
 public:
  Session(const ClientOptions& options, Module module, SessionHooks hooks);
  ~Session();  // prompt, whatever it is doing
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Waits for a connection, if there is none, for as long as for an answer. A reply may still say that the server
  // could not do it.
  Result<Reply> call(const Message& request);
  // The same, as a Result with the body of a reply that is ok.
  Result<JsonDocument> ask(const Message& request);

  void wake();  // work() is called soon
  Status status() const;

 private:
  struct Line {  // a connection and what belongs to it
    ServerAddress server;
    std::atomic<std::uint64_t> number = 0;  // given when it is used
    std::string id{};
    std::shared_ptr<Connection> connection;
    std::shared_ptr<StreamState> state;
    Instant since{};  // in use; of the session's thread
  };
  using LinePtr = std::shared_ptr<Line>;

  void run();
  void connect();
  void attend(const LinePtr& line);
  void move(const LinePtr& from, const std::string& host);
  LinePtr try_next_server();
  void adopt(const LinePtr& line);
  void drop(const LinePtr& line, const std::string& why);
  bool still_there(const Line& line);
  void log_in_if_due(const Line& line);
  void wait(Instant until);

  StreamListener listen_on(const std::shared_ptr<Line>& line);
  void receive(Line& line, const Message& message);
  Result<Reply> exchange(const Line& line, Message request, const std::string& token);
  Result<LinePtr> wait_for_line(const std::string& request_type);
  bool begin_attempt(const LinePtr& line);
  void trouble(const Error& error);

  // Fixed after construction
  const ClientOptions options_;
  const Module module_;
  const SessionHooks hooks_;

  base::Random random_;
  Login login_;
  ServerList servers_;        // of the session's thread
  std::size_t failures_ = 0;  // of the session's thread: attempts since a connection lasted

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_
  LinePtr line_;     // in use
  LinePtr attempt_;  // being made
  bool stopping_ = false;
  bool woken_ = false;
  std::optional<std::string> move_to_;  // a server has asked us to go, to this host if not empty
  Status status_;
  std::set<std::string> told_;  // troubles since the last connection; each is a warning once

  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace easyretry::nacos
