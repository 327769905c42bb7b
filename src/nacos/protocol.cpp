#include "nacos/protocol.h"

#include "nacos/json_read.h"

namespace easyretry::nacos {
namespace {

constexpr int kClientFailed = -500;

// errorCode tells more than resultCode, which is 500 for most failures.
int code_of(JsonView body) {
  const auto result = static_cast<int>(int_at(body, "resultCode", codes::kOk));
  const auto error = static_cast<int>(int_at(body, "errorCode", 0));
  if (result == codes::kOk) return codes::kOk;
  return error != 0 ? error : result;
}

std::string advice_for(int code) {
  switch (code) {
    case codes::kServerStarting: return "the server is still starting";
    case codes::kUnregistered:
    case codes::kUnknownClient: return "the server does not know this connection; a new one is made";
    case codes::kNoHandler: return "the server is too old for this";
    case codes::kWrongParameter: return "the server refuses a parameter";
    case codes::kNoRight: return "no right; check the user, the password and its rights to the namespace";
    default: return "the server failed";
  }
}

Errc errc_for(int code) {
  const bool for_good = code == codes::kWrongParameter || code == codes::kNoHandler;
  return for_good ? Errc::invalid_argument : Errc::unavailable;
}

std::string answer_body(int result, int error, const std::string& request_id) {
  JsonWriter out;
  out.begin_object();
  out.key("resultCode");
  out.integer(result);
  out.key("errorCode");
  out.integer(error);
  out.key("requestId");
  out.string(request_id);
  out.end_object();
  return out.take();
}

Error unreadable(const Message& message, const JsonError& error) {
  return {Errc::unavailable, "nacos." + message.type, std::string{"cannot read what the server sent: "} + error.what()};
}

}  // namespace

Result<Reply> read_reply(const Message& message) {
  try {
    JsonDocument body = JsonDocument::parse(message.body);
    const int code = code_of(body.root());
    std::string text = string_at(body.root(), "message");
    return Reply{message.type, code, std::move(text), std::move(body)};
  } catch (const JsonError& error) {
    return tl::make_unexpected(unreadable(message, error));
  }
}

Error error_of(const Reply& reply, const std::string& request_type) {
  return error_of(reply.code, reply.message, request_type);
}

Error error_of(int code, const std::string& message, const std::string& request_type) {
  return {errc_for(code), "nacos." + request_type,
          advice_for(code) + " (" + std::to_string(code) + ": " + message + ")"};
}

Result<ServerRequest> read_server_request(const Message& message) {
  try {
    JsonDocument body = JsonDocument::parse(message.body);
    std::string id = string_at(body.root(), "requestId");
    return ServerRequest{message.type, std::move(id), std::move(body)};
  } catch (const JsonError& error) {
    return tl::make_unexpected(unreadable(message, error));
  }
}

Message acknowledge(const ServerRequest& request) {
  constexpr std::string_view kRequest = "Request";
  std::string type = request.type;
  if (type.ends_with(kRequest)) type.resize(type.size() - kRequest.size());
  return {type + "Response", answer_body(codes::kOk, 0, request.id)};
}

Message not_understood(const std::string& request_id) {
  return {"ErrorResponse", answer_body(codes::kFailed, kClientFailed, request_id)};
}

}  // namespace easyretry::nacos
