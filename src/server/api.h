#pragma once
// Routes requests to endpoints: authentication, rights, namespace, rate limit; turns exceptions into error responses.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <easyretry/options.h>

#include "http/http_server.h"
#include "http/router.h"
#include "server/audit.h"
#include "server/namespace.h"
#include "server/pages.h"
#include "server/rate_limit.h"
#include "server/sessions.h"
#include "server/tokens.h"

namespace easyretry::server {

// An admitted request.
struct Call {
  http::Request request;
  std::shared_ptr<Namespace> name_space;
  Token by;
};

// Answers later, from any thread. Called on the server's thread unless the body is long, so it must not block; may
// throw.
using Endpoint = std::function<void(Call, http::Respond)>;
// Returns the response; may wait for the store; may throw.
using PlainEndpoint = std::function<http::Response(const Call&)>;

using Namespaces = std::map<std::string, std::shared_ptr<Namespace>>;

// The namespace of a request whose token is for all namespaces.
inline const std::string kNamespaceHeader = "easyretry-namespace";

// In responses: the store's time.
inline const std::string kTimeHeader = "easyretry-time";

// Maximum lengths of request bodies: for a few fields, for the names of many handlers, and for tasks with arguments or
// results.
inline constexpr std::size_t kShortBody = 65'536;
inline constexpr std::size_t kBodyOfNames = 1'048'576;
inline constexpr std::size_t kLongBody = 8'388'608;

// A submission is stored only once under the same key.
inline const std::string kIdempotencyHeader = "idempotency-key";

// In its response: how far back such keys are remembered.
inline const std::string kReachHeader = "easyretry-remembers-ms";

struct ApiOptions {
  std::string name_space;            // the default for tokens that are for all namespaces
  std::vector<std::string> hosts{};  // allowed values of the Host header, without port
  std::string audit{};               // file for the audit log of changes by operators
  int requests_per_second = 0;       // 0: no limit
  LogSink log{};
  bool tls = false;                   // this server speaks it
  std::span<const PageFile> pages{};  // the dashboard; empty: none
};

// Threads for work that waits for the store. The queue is bounded: work that does not fit is refused.
class ApiThreads {
 public:
  ApiThreads(std::size_t threads, std::size_t most_waiting);
  ~ApiThreads();  // waits until all queued work is done
  ApiThreads(const ApiThreads&) = delete;
  ApiThreads& operator=(const ApiThreads&) = delete;

  // False: the queue is full. `work` must not throw.
  bool put(std::function<void()> work);
  // Ignores the bound, for work that has already begun.
  void put_anyway(std::function<void()> work);

 private:
  void work();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_
  std::deque<std::function<void()>> waiting_;
  bool closing_ = false;

  std::vector<std::thread> threads_;
};

class Api {
 public:
  // For an address that tries to log in with wrong tokens: after ten of them in five minutes, it is locked out for a
  // minute, then for two, up to fifteen.
  static constexpr WrongTokens::Limits kLockOut{.free = 10,
                                                .window = std::chrono::minutes{5},
                                                .first_wait = std::chrono::minutes{1},
                                                .longest_wait = std::chrono::minutes{15}};

  Api(Namespaces namespaces, std::shared_ptr<Tokens> tokens, ApiOptions options);

  // For the HttpServer: decides by the head of a request whether it is admitted, and who serves it.
  http::Admission admit(http::Request& head);
  // For a caller in this process that is already authenticated: Host and token are not checked.
  void serve_as(const Token& who, http::Request request, const http::Respond& respond);

  // These need no token, and take no body unless they say so.
  void add_open(http::Method method, std::string_view path, PlainEndpoint endpoint, std::size_t most_body_bytes = 0);
  void add_open(http::Method method, std::string_view path, Endpoint endpoint);
  void add(http::Method method, std::string_view path, Right needs, Endpoint endpoint,
           std::size_t most_body_bytes = kShortBody);
  void add(http::Method method, std::string_view path, Right needs, PlainEndpoint endpoint,
           std::size_t most_body_bytes = kShortBody);

  // Begins a session in place of the request's session, and returns the secret for its cookie. Throws Refusal for an
  // unknown token, after many of them from one address, and for a request from a page of another server.
  std::string log_in(const http::Request& request, std::string_view token);
  Sessions& sessions() { return sessions_; }
  // The value of Set-Cookie, see session_cookie().
  std::string cookie(const http::Request& request, std::string_view secret) const;

  std::vector<std::string> namespaces() const;  // names
  const Audit& audit() const { return audit_; }
  Tokens& tokens() { return *tokens_; }
  ApiThreads& threads() { return threads_; }
  std::vector<std::string> routes() const { return router_.all(); }

 private:
  struct Route {
    std::optional<Right> needs;  // nullopt: no token needed
    Endpoint endpoint;
    std::size_t most_body_bytes = 0;
  };

  http::Admitted judged(http::Request& head);
  const Route& route_of(http::Request& request) const;
  static http::Serve open_call(const Route& route);
  http::Serve call(const Route& route, const Token& who, const http::Request& head) const;
  void require_host(const http::Request& request) const;
  Token authenticated(const http::Request& request);
  std::optional<Token> logged_in(const http::Request& request);
  void require_few_wrong_tokens(const http::Request& request);
  void require_below_rate_limit(const std::string& client);
  std::shared_ptr<Namespace> namespace_of(const http::Request& request, const Token& token) const;
  Endpoint waiting(PlainEndpoint endpoint);
  Endpoint off_thread_if_long(Endpoint endpoint);
  PlainEndpoint audited(PlainEndpoint endpoint);

  const Namespaces namespaces_;
  const std::shared_ptr<Tokens> tokens_;
  const ApiOptions options_;
  Audit audit_;
  RateLimit rate_limit_;
  WrongTokens wrong_tokens_{{}, system_clock()};
  WrongTokens failed_logins_{kLockOut, system_clock()};
  Sessions sessions_;
  http::Router<Route> router_;
  ApiThreads threads_;
};

// Runs `work`; an exception becomes an error response. Everything that is logged meanwhile carries the id.
void answer(const http::Respond& respond, const std::string& request_id, const std::function<void()>& work);

}  // namespace easyretry::server
