#include "nacos/handshake.h"

#include "nacos/json_read.h"
#include "nacos/protocol.h"

namespace easyretry::nacos {
namespace {

constexpr Millis kBetweenQuestions{50};
constexpr std::string_view kVersion = "Nacos-CPP-Client:v1.0.0";  // r-nacos reads it, so the form matters

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
  out.string(kVersion);
  out.key("tenant");
  out.string(options.space);
  out.key("labels");
  out.begin_object();
  out.key("source");
  out.string("sdk");
  out.key("module");
  out.string(to_string(module));
  out.key("AppName");
  out.string(options.app);
  out.end_object();
  out.key("abilityTable");  // even empty, it asks for the confirmation
  out.begin_object();
  out.end_object();
  out.end_object();
  return {"ConnectionSetupRequest", out.take()};
}

// Servers that do not confirm by themselves answer "unregistered" until they have read the setup.
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

std::string_view to_string(Module module) {
  return module == Module::naming ? "naming" : "config";
}

Result<std::string> shake_hands(Connection& connection, StreamState& state, StreamListener listener,
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
