#pragma once
// What answers mean, and how the server's own requests are answered; the same for naming and configuration.

#include <string>

#include <easyretry/error.h>
#include <easyretry/json_text.h>

#include "nacos/connection.h"

namespace easyretry::nacos {

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
  int code;  // 200, or the most telling of what the server gave
  std::string message;
  JsonDocument body;

  bool ok() const { return code == codes::kOk; }
  // Of the server as a whole, not of the part that was asked: the same number may mean another thing there.
  bool is_general_error() const { return type == "ErrorResponse"; }
  bool lost_connection() const { return code == codes::kUnregistered || code == codes::kUnknownClient; }
  bool no_right() const { return code == codes::kNoRight; }
};

Result<Reply> read_reply(const Message& message);

// What to tell a caller about an answer that is not ok.
Error error_of(const Reply& reply, const std::string& request_type);
Error error_of(int code, const std::string& message, const std::string& request_type);

// Something that the server asked on the stream.
struct ServerRequest {
  std::string type;
  std::string id;  // to be sent back
  JsonDocument body;
};

Result<ServerRequest> read_server_request(const Message& message);

// "NotifySubscriberRequest" is answered by a NotifySubscriberResponse.
Message acknowledge(const ServerRequest& request);
Message not_understood(const std::string& request_id);

}  // namespace easyretry::nacos
