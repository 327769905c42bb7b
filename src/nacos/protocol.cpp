#include "nacos/protocol.h"

namespace easyretry::nacos {
namespace {

constexpr int kClientFailed = -500;

// errorCode is more specific than resultCode, which is 500 for most failures.
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

constexpr Millis kBetweenQuestions{50};
constexpr std::string_view kClientVersion = "Nacos-CPP-Client:v1.0.0";  // r-nacos parses it, so the format matters

struct Greeting {
  std::string connection_id;
  bool confirms;  // the server will send a SetupAckRequest: 2.3 and newer
};

Result<Reply> ask(Connection& connection, const std::string& type, Millis timeout) {
  const auto answer = connection.call({type, "{}"}, timeout);
  if (!answer) return tl::make_unexpected(answer.error());
  return read_reply(*answer);
}

Result<Greeting> check_server(Connection& connection, Millis timeout) {
  auto reply = ask(connection, "ServerCheckRequest", timeout);
  if (!reply) return tl::make_unexpected(std::move(reply.error()));
  if (!reply->ok()) return tl::make_unexpected(error_of(*reply, "ServerCheckRequest"));
  const JsonView body = reply->body.root();
  return Greeting{string_at(body, "connectionId"), bool_at(body, "supportAbilityNegotiation", false)};
}

Message setup_request(const ClientOptions& options, Module module) {
  JsonWriter out;
  out.begin_object();
  out.key("clientVersion");
  out.string(kClientVersion);
  out.key("tenant");
  out.string(options.name_space);
  out.key("labels");
  out.begin_object();
  out.key("source");
  out.string("sdk");
  out.key("module");
  out.string(to_string(module));
  out.key("AppName");
  out.string(options.app);
  out.end_object();
  out.key("abilityTable");  // even an empty one requests the confirmation
  out.begin_object();
  out.end_object();
  out.end_object();
  return {"ConnectionSetupRequest", out.take()};
}

// Servers that do not confirm answer "unregistered" until they have read the setup.
bool poll_for_registration(Connection& connection, StreamState& state, const Timings& timings) {
  const auto end = std::chrono::steady_clock::now() + timings.setup;
  while (std::chrono::steady_clock::now() < end && !state.ended()) {
    const auto reply = ask(connection, "HealthCheckRequest", timings.request);
    if (reply && reply->ok()) return true;
    if (!state.pause(kBetweenQuestions)) return false;
  }
  return false;
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

std::string_view to_string(Module module) {
  return module == Module::naming ? "naming" : "config";
}

Result<std::string> handshake(Connection& connection, StreamState& state, StreamListener listener,
                              const ClientOptions& options, Module module) try {
  auto greeting = check_server(connection, options.timings.request);
  if (!greeting) return tl::make_unexpected(std::move(greeting.error()));
  connection.open_stream(std::move(listener));
  connection.send(setup_request(options, module));
  const bool registered = greeting->confirms ? state.wait_for_confirmation(options.timings.setup)
                                             : poll_for_registration(connection, state, options.timings);
  if (!registered) {
    return fail(Errc::unavailable, "nacos.ConnectionSetupRequest",
                state.ended().value_or("the server did not confirm the connection in time"));
  }
  return std::move(greeting->connection_id);
} catch (const JsonError& error) {
  return fail(Errc::unavailable, "nacos.ServerCheckRequest", error.what());
}

}  // namespace easyretry::nacos
