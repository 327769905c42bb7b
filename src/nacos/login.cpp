#include "nacos/login.h"

#include <algorithm>

#include "nacos/http.h"
#include "nacos/json_read.h"

namespace easyretry::nacos {
namespace {

constexpr std::int64_t kUsualLifetimeSeconds = 18000;
constexpr Millis kShortestLife{500};  // of a token that a server says ends at once, so as not to log in all the time

// 3.x has the first, and older servers the second; some answer 403, 405 or 501 for paths that they do not know.
constexpr const char* kPaths[] = {"/v3/auth/user/login", "/v1/auth/users/login"};

struct Token {
  std::string text;
  Millis lifetime;
};

std::optional<Token> read_token(const std::string& body) try {
  const JsonDocument document = JsonDocument::parse(body);
  // 3.x may wrap it.
  const JsonView root = value_at(document.root(), "data").value_or(document.root());
  Token token{string_at(root, "accessToken"), std::chrono::seconds{int_at(root, "tokenTtl", kUsualLifetimeSeconds)}};
  if (token.text.empty()) return std::nullopt;
  return token;
} catch (const JsonError&) {
  return std::nullopt;
}

Result<Token> ask_for_token(const ServerAddress& server, const ClientOptions& options, const std::stop_token& stop) {
  const auto& [username, password] = *options.credentials;
  long status = 0;
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

// Ahead of its end by a fifteenth to a tenth of its life, so that clients do not all come at once.
Millis renew_after(Millis lifetime, base::Random& random) {
  const auto tenth = static_cast<std::uint64_t>(std::max<Millis::rep>(lifetime.count() / 10, 0));
  const Millis ahead{tenth - random.below(tenth / 3 + 1)};
  return std::max(lifetime - ahead, kShortestLife);
}

// A server that does not get done goes on with what nobody waits for any more. Asked again and again by many, it would
// never come to an end: so the pauses double, and no two clients keep step.
Millis pause_after(int slow, const Timings& timings, base::Random& random) {
  const Millis whole = std::max(std::min(timings.redo * (1 << std::min(slow, 10)), timings.relogin), timings.redo);
  return whole / 2 + Millis{static_cast<Millis::rep>(random.below(static_cast<std::uint64_t>(whole.count()) / 2 + 1))};
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
  if (std::chrono::steady_clock::now() < due()) return {};  // somebody else has, meanwhile
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

}  // namespace easyretry::nacos
