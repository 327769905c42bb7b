#pragma once
// The common part of naming and configuration: reading answers, answering requests of the server, and the handshake.

#include <cstdint>
#include <string>
#include <string_view>

#include <easyretry/detail/json_text.h>

#include "base/result.h"
#include "nacos/connection.h"
#include "nacos/options.h"

namespace easyretry::nacos {

// Reads JSON from servers of many versions: keys may be missing or null, and unknown ones are ignored.
inline std::optional<JsonView> value_at(JsonView object, std::string_view key) {
  auto found = object.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

inline std::string string_at(JsonView object, std::string_view key) {
  const auto found = value_at(object, key);
  return found ? std::string{found->as_string()} : std::string{};
}

inline std::int64_t int_at(JsonView object, std::string_view key, std::int64_t otherwise) {
  const auto found = value_at(object, key);
  return found ? found->as_int() : otherwise;
}

inline double double_at(JsonView object, std::string_view key, double otherwise) {
  const auto found = value_at(object, key);
  return found ? found->as_double() : otherwise;
}

inline bool bool_at(JsonView object, std::string_view key, bool otherwise) {
  const auto found = value_at(object, key);
  return found ? found->as_bool() : otherwise;
}

namespace codes {
inline constexpr int kOk = 200;
inline constexpr int kServerStarting = 300;
inline constexpr int kUnregistered = 301;  // the server does not know the connection
inline constexpr int kNoHandler = 302;
inline constexpr int kWrongParameter = 400;
inline constexpr int kNoRight = 403;
inline constexpr int kFailed = 500;
inline constexpr int kUnknownClient = -401;  // the naming part of the server does not know the connection
}  // namespace codes

struct Reply {
  std::string type;
  int code;  // 200, or the most specific code that the server sent
  std::string message;
  JsonDocument body;

  bool ok() const { return code == codes::kOk; }
  // An error of the whole server, not of the module that was asked: the same code may mean something else there.
  bool is_general_error() const { return type == "ErrorResponse"; }
  bool lost_connection() const { return code == codes::kUnregistered || code == codes::kUnknownClient; }
  bool no_right() const { return code == codes::kNoRight; }
};

Result<Reply> read_reply(const Message& message);

// The error for an answer that is not ok.
Error error_of(const Reply& reply, const std::string& request_type);
Error error_of(int code, const std::string& message, const std::string& request_type);

// A request that the server sent on the stream.
struct ServerRequest {
  std::string type;
  std::string id;  // goes into the answer
  JsonDocument body;
};

Result<ServerRequest> read_server_request(const Message& message);

// "NotifySubscriberRequest" is answered by a NotifySubscriberResponse.
Message acknowledge(const ServerRequest& request);
Message not_understood(const std::string& request_id);

// The part of Nacos that a connection is for. Another part does not know the connection.
enum class Module { naming, config };

std::string_view to_string(Module module);

// Sets up a new connection: checks that the server is ready, opens the stream, introduces this client and waits for the
// confirmation. The listener must pass a SetupAckRequest to state.confirm(), and the end to state.end(). Returns the id
// that the server gave the connection.
Result<std::string> handshake(Connection& connection, StreamState& state, StreamListener listener,
                              const ClientOptions& options, Module module);

}  // namespace easyretry::nacos
