#include "server/sessions.h"

#include <algorithm>
#include <cctype>

#include "server/refusal.h"

namespace easyretry::server {
namespace {

constexpr std::string_view kCookie = "easyretry_session";
const std::string kCsrfHeader = "x-csrf-token";

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(' ');
  return from == std::string_view::npos ? std::string_view{} : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

http::Problem forged(std::string message) {
  return {
      403, "csrf", std::move(message),
      "with a session cookie, a change needs the header X-CSRF-Token with `csrf` of GET /v1/session, and has to come "
      "from a page of this server; programs send `Authorization: Bearer er_…` instead"};
}

}  // namespace

Sessions::Sessions(std::shared_ptr<Tokens> tokens, Limits limits, const Clock& clock)
    : tokens_(std::move(tokens)), limits_(limits), clock_(clock) {}

std::string Sessions::begin(const Token& token) {
  std::string secret = new_secret();
  const std::lock_guard lock{mutex_};
  make_room_for(token.hash);
  by_hash_.emplace(hash_of(secret), Kept{.token = token.hash,
                                         .csrf = new_secret(),
                                         .expires_at = clock_.now() + limits_.lasts,
                                         .ends = clock_.steady() + limits_.lasts});
  return secret;
}

std::optional<Session> Sessions::find(std::string_view secret) {
  if (secret.empty()) return std::nullopt;
  const std::string hash = hash_of(secret);
  const std::lock_guard lock{mutex_};
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return std::nullopt;
  const Kept& kept = found->second;
  auto token = clock_.steady() < kept.ends ? tokens_->with_hash(kept.token) : std::nullopt;
  if (token) return Session{*std::move(token), kept.csrf, kept.expires_at};
  by_hash_.erase(found);
  return std::nullopt;
}

bool Sessions::end(std::string_view secret) {
  const std::lock_guard lock{mutex_};
  return by_hash_.erase(hash_of(secret)) > 0;
}

// One token must not be able to end the sessions of others by logging in often.
void Sessions::make_room_for(const std::string& token) {
  std::erase_if(by_hash_, [now = clock_.steady()](const auto& entry) { return entry.second.ends <= now; });
  std::size_t count = 0;
  auto oldest = by_hash_.end();
  for (auto it = by_hash_.begin(); it != by_hash_.end(); ++it) {
    if (it->second.token != token) continue;
    ++count;
    if (oldest == by_hash_.end() || it->second.ends < oldest->second.ends) oldest = it;
  }
  if (count >= limits_.of_a_token) by_hash_.erase(oldest);
  if (by_hash_.size() < limits_.in_all) return;
  throw Refusal{{503,
                 "too_many_sessions",
                 std::to_string(by_hash_.size()) + " people are logged in, which is the most",
                 "try again later, or use the API with the token itself",
                 {{"Retry-After", "60"}}}};
}

std::string_view session_secret(const http::Request& request) {
  std::string_view rest = request.header("cookie").value_or("");
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && trimmed(pair.substr(0, equals)) == kCookie) {
      return trimmed(pair.substr(equals + 1));
    }
  }
  return {};
}

std::string session_cookie(std::string_view secret, Millis lasts, bool secure) {
  const auto seconds = secret.empty() ? 0 : std::chrono::duration_cast<std::chrono::seconds>(lasts).count();
  return std::string{kCookie}.append("=").append(secret) +
         "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(seconds) + (secure ? "; Secure" : "");
}

Origin origin_of(const http::Request& request, bool tls) {
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  const auto site = request.header("sec-fetch-site");
  if (site && *site != "same-origin") return Origin::other;
  const auto origin = request.header("origin");
  if (!origin) return site ? Origin::same : Origin::unknown;
  const bool with_tls = origin->starts_with(kTls);
  if (!with_tls && (tls || !origin->starts_with(kPlain))) return Origin::other;
  const std::string_view host = origin->substr((with_tls ? kTls : kPlain).size());
  return same_name(host, request.header("host").value_or("")) ? Origin::same : Origin::other;
}

void require_own_page(const http::Request& request, const Session& session, bool tls) {
  if (origin_of(request, tls) != Origin::same)
    throw Refusal{forged("the request does not come from a page of this server")};
  // Hashes are compared, so that the time it takes reveals nothing.
  if (hash_of(request.header(kCsrfHeader).value_or("")) != hash_of(session.csrf)) {
    throw Refusal{forged("the token against request forgery is missing or wrong")};
  }
}

}  // namespace easyretry::server
