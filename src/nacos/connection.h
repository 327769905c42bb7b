#pragma once
// One conversation with one server: a TCP connection with its stream and its calls.
//
// To Nacos the TCP connection is the client: registrations and subscriptions hang on it, and calls count for the client
// whose stream shares their connection. So a Connection is used once. gRPC would dial again by itself, and the server
// would not know us; when the stream has ended, drop the Connection and say everything again on a new one.
//
// Safe to use from any thread. Share it: call() returns only when its answer has come, its time is over or close() was
// called.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <easyretry/error.h>
#include <easyretry/time.h>

#include "nacos/options.h"

namespace easyretry::nacos {

struct Message {
  std::string type;  // as the server's classes are named: "InstanceRequest"
  std::string body;  // JSON
  std::map<std::string, std::string> headers{};
};

// Called by gRPC's threads, one call at a time. Must not block and must not close the connection.
struct StreamListener {
  std::function<void(Message)> on_message;
  std::function<void(std::string why)> on_end;  // once, unless close() comes first
};

class Connection {
 public:
  // Dials at the first use, not here.
  Connection(const ServerAddress& server, const ClientOptions& options);
  ~Connection();  // on any thread but gRPC's
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // in_doubt: the server may have done it. unavailable: nothing was sent.
  Result<Message> call(const Message& request, Millis timeout);

  // Once.
  void open_stream(StreamListener listener);
  // Queued; forgotten when the stream has ended.
  void send(const Message& message);

  // Calls that wait return at once, and no listener is called any more, or running, when this returns.
  void close();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::nacos
