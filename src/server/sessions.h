#pragma once
// Sessions of browsers. A person logs in with a token and gets a cookie, so that the token is not kept in the browser.
//
// A session lasts for a fixed time and ends with its token: the token is looked up for every request, so one that is
// revoked, or gets another role, has no session left with the old rights. Sessions are kept in memory: after a restart,
// people log in again. Thread-safe.

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/time.h>

#include "http/message.h"
#include "server/tokens.h"

namespace easyretry::server {

struct Session {
  Token token;  // as it is now
  std::string csrf;
  TimePoint expires_at{};
};

class Sessions {
 public:
  struct Limits {
    Millis lasts = std::chrono::hours{8};
    std::size_t of_a_token = 100;  // one more ends the oldest of them
    std::size_t in_all = 10'000;   // about 400 bytes each
  };

  // The clock must outlive it.
  Sessions(std::shared_ptr<Tokens> tokens, Limits limits, const Clock& clock);

  // Returns the secret for the cookie. Throws Refusal if there are too many sessions.
  std::string begin(const Token& token);
  std::optional<Session> find(std::string_view secret);
  bool end(std::string_view secret);

 private:
  struct Kept {
    std::string token;  // its hash
    std::string csrf;
    TimePoint expires_at{};  // for display
    Instant ends{};          // the same time by the clock that does not jump
  };
  using ByHash = std::map<std::string, Kept, std::less<>>;

  void make_room_for(const std::string& token);

  const std::shared_ptr<Tokens> tokens_;
  const Limits limits_;
  const Clock& clock_;
  std::mutex mutex_;
  ByHash by_hash_;  // of their secrets; guarded by mutex_
};

// The secret of the session in the request's cookie; empty if there is none.
std::string_view session_secret(const http::Request& request);
// The value of Set-Cookie. An empty secret removes the cookie.
std::string session_cookie(std::string_view secret, Millis lasts, bool secure);

enum class Origin {
  unknown,  // not said: this is not a browser, or an old one
  same,     // a page of this server
  other,
};
// The origin of the page that sends this request. `tls`: this server speaks TLS, so an http:// page is another's.
Origin origin_of(const http::Request& request, bool tls);

// Throws Refusal unless a page of this server sends the request, and knows the token against request forgery.
void require_own_page(const http::Request& request, const Session& session, bool tls);

}  // namespace easyretry::server
