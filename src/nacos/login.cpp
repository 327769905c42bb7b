#include "nacos/login.h"

#include <algorithm>

#include <easyretry/detail/json_text.h>

#include "nacos/protocol.h"

namespace easyretry::nacos {
namespace {

constexpr std::int64_t kUsualLifetimeSeconds = 18000;
constexpr Millis kShortestLife{500};  // minimum, in case a server sends a lifetime of 0: avoids constant logins

// 3.x has the first, older servers the second. Some answer 403, 405 or 501 for unknown paths.
constexpr const char* kPaths[] = {"/v3/auth/user/login", "/v1/auth/users/login"};

struct Token {
  std::string text;
  Millis lifetime;
};

std::optional<Token> read_token(const std::string& body) try {
  const JsonDocument document = JsonDocument::parse(body);
  // 3.x may wrap the answer.
  const JsonView root = value_at(document.root(), "data").value_or(document.root());
  Token token{string_at(root, "accessToken"), std::chrono::seconds{int_at(root, "tokenTtl", kUsualLifetimeSeconds)}};
  if (token.text.empty()) return std::nullopt;
  return token;
} catch (const JsonError&) {
  return std::nullopt;
}

Result<Token> ask_for_token(const ServerAddress& server, const ClientOptions& options, const std::stop_token& stop) {
  const auto& [username, password] = *options.credentials;
  int status = 0;
  for (const char* path : kPaths) {
    const HttpRequest request{"POST", http_url(server, path), {{"username", username}, {"password", password}}};
    const auto reply = ask_by_http(request, options.tls, {options.timings.request, options.timings.login, stop});
    if (!reply) return tl::make_unexpected(reply.error());
    status = reply->status;
    if (status != 200) continue;
    if (auto token = read_token(reply->body)) return std::move(*token);
  }
  return fail(status >= 500 ? Errc::unavailable : Errc::invalid_argument, "nacos.login",
              to_string(server) + " refused the user " + username + " (HTTP status " + std::to_string(status) +
                  "); check username and password");
}

// Renews it when a fifteenth to a tenth of its lifetime is left; random, so that clients do not log in all at once.
Millis renew_after(Millis lifetime, base::Random& random) {
  const auto tenth = static_cast<std::uint64_t>(std::max<Millis::rep>(lifetime.count() / 10, 0));
  const Millis ahead{tenth - random.below(tenth / 3 + 1)};
  return std::max(lifetime - ahead, kShortestLife);
}

// An overloaded server keeps working on requests that have timed out. If many clients kept asking, it would never catch
// up. So the pauses double, and are random so that clients do not act in step.
Millis pause_after(int slow, const Timings& timings, base::Random& random) {
  const Millis whole = std::max(std::min(timings.redo * (1 << std::min(slow, 10)), timings.relogin), timings.redo);
  return whole / 2 + Millis{static_cast<Millis::rep>(random.below(static_cast<std::uint64_t>(whole.count()) / 2 + 1))};
}

constexpr std::size_t kMostText = 200;  // characters of an answer in an error

// The gRPC codes 400 and 403 mean the same in HTTP; 3xx do not.
int code_of(const HttpReply& reply) {
  return reply.status == codes::kWrongParameter || reply.status == codes::kNoRight ? reply.status : codes::kFailed;
}

std::string text_of(const HttpReply& reply) {
  return "HTTP status " + std::to_string(reply.status) + ", " +
         reply.body.substr(0, std::min(reply.body.find('\n'), kMostText));
}

}  // namespace

std::string Login::token() const {
  const std::lock_guard lock{mutex_};
  return token_;
}

Instant Login::due() const {
  if (!options_.credentials) return Instant::max();
  const std::lock_guard lock{mutex_};
  return due_;
}

Result<void> Login::renew(const ServerAddress& server, const std::stop_token& stop) {
  const std::lock_guard lock{renewing_};
  if (std::chrono::steady_clock::now() < due()) return {};  // another thread has renewed it
  return log_in(server, stop);
}

Result<bool> Login::replace(const std::string& refused, const ServerAddress& server, const std::stop_token& stop) {
  if (!options_.credentials) return false;
  const std::lock_guard lock{renewing_};
  if (token() != refused) return true;
  if (last_attempt_ && std::chrono::steady_clock::now() < *last_attempt_ + options_.timings.relogin) {
    if (last_failure_) return tl::make_unexpected(*last_failure_);
    return false;
  }
  return log_in(server, stop).map([] { return true; });
}

Result<void> Login::log_in(const ServerAddress& server, const std::stop_token& stop) {
  last_attempt_ = std::chrono::steady_clock::now();
  const auto outcome = ask_for_token(server, options_, stop);
  const std::lock_guard lock{mutex_};
  last_failure_ = outcome ? std::nullopt : std::optional{outcome.error()};
  if (outcome) {
    slow_ = 0;
    token_ = outcome->text;
    due_ = *last_attempt_ + renew_after(outcome->lifetime, random_);
    return {};
  }
  if (stop.stop_requested()) return tl::make_unexpected(outcome.error());
  const bool refused = outcome.error().code == Errc::invalid_argument;
  const Instant now = std::chrono::steady_clock::now();
  slow_ = now - *last_attempt_ >= options_.timings.login ? slow_ + 1 : 0;
  due_ = refused ? *last_attempt_ + options_.timings.relogin : now + pause_after(slow_, options_.timings, random_);
  return tl::make_unexpected(outcome.error());
}

Result<void> HttpClient::log_in_if_due(const ServerAddress& server) {
  if (std::chrono::steady_clock::now() < login_.due()) return {};
  return login_.renew(server, stop_);
}

Result<std::string> HttpClient::ask(const ServerAddress& server, const HttpCall& call) {
  const auto send = [&](const std::string& token) {
    return ask_by_http({call.method, http_url(server, call.path), call.fields, token}, options_.tls,
                       {options_.timings.request, options_.timings.request, stop_});
  };
  const std::string token = login_.token();
  auto reply = send(token);
  if (reply && reply->status == codes::kNoRight) {
    const auto replaced = login_.replace(token, server, stop_);
    if (!replaced) return tl::make_unexpected(replaced.error());
    if (*replaced) reply = send(login_.token());
  }
  if (!reply) return tl::make_unexpected(std::move(reply.error()));
  last_heard_ = std::chrono::steady_clock::now();
  if (reply->status == codes::kOk) return std::move(reply->body);
  return tl::make_unexpected(error_of(code_of(*reply), text_of(*reply), call.method + " " + call.path));
}

Result<std::vector<Instance>> HttpClient::list(const ServerAddress& server, HttpDialect dialect,
                                               const ServiceName& service, const std::string& cluster) try {
  const auto body = ask(server, list_call(dialect, options_.name_space, service, cluster));
  if (!body) return tl::make_unexpected(body.error());
  return read_list(dialect, *body);
} catch (const JsonError& error) {
  return fail(Errc::unavailable, "nacos.list", std::string{"cannot read the list: "} + error.what());
}

std::optional<Instant> HttpClient::last_heard() const {
  const Instant heard = last_heard_;
  return heard == Instant{} ? std::nullopt : std::optional{heard};
}

}  // namespace easyretry::nacos
