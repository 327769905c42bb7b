#include "server/api.h"

#include <algorithm>

#include <pthread.h>

#include "base/log_line.h"
#include "base/time_text.h"
#include "server/refusal.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kMostWaiting = 2000;
// Bodies up to this length are parsed on the server's thread: that takes a quarter of a millisecond at most.
constexpr std::size_t kReadAtOnce = 4096;
constexpr std::string_view kBearer = "Bearer ";

std::string address_of(const http::Request& request) {
  return "address " + network_of(request.peer);
}

// In whole seconds, as HTTP requires.
std::vector<std::pair<std::string, std::string>> retry_after(std::chrono::nanoseconds wait) {
  return {{"Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count())}};
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

ApiThreads::ApiThreads(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

ApiThreads::~ApiThreads() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ApiThreads::put(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void ApiThreads::put_anyway(std::function<void()> work) {
  {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void ApiThreads::work() {
  pthread_setname_np(pthread_self(), "er-api");
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
}

void answer(const http::Respond& respond, const std::string& request_id, const std::function<void()>& work) {
  const base::LoggedRequest logged{request_id};
  try {
    work();
  } catch (...) {
    respond(http::to_response(problem_of_current_exception(), request_id));
  }
}

Api::Api(Namespaces namespaces, std::shared_ptr<Tokens> tokens, ApiOptions options)
    : namespaces_(std::move(namespaces)),
      tokens_(std::move(tokens)),
      options_(std::move(options)),
      audit_(options_.audit, options_.log),
      rate_limit_(options_.requests_per_second, system_clock()),
      sessions_(tokens_, {}, system_clock()),
      threads_(kThreads, kMostWaiting) {}

void Api::add_open(http::Method method, std::string_view path, PlainEndpoint endpoint, std::size_t most_body_bytes) {
  router_.add(method, path, {std::nullopt, waiting(std::move(endpoint)), most_body_bytes});
}

void Api::add_open(http::Method method, std::string_view path, Endpoint endpoint) {
  router_.add(method, path, {std::nullopt, std::move(endpoint)});
}

void Api::add(http::Method method, std::string_view path, Right needs, Endpoint endpoint, std::size_t most_body_bytes) {
  router_.add(method, path, {needs, off_thread_if_long(std::move(endpoint)), most_body_bytes});
}

void Api::add(http::Method method, std::string_view path, Right needs, PlainEndpoint endpoint,
              std::size_t most_body_bytes) {
  const bool changes = method != http::Method::get;
  if (changes && (needs == Right::operate || needs == Right::administer)) endpoint = audited(std::move(endpoint));
  router_.add(method, path, {needs, waiting(std::move(endpoint)), most_body_bytes});
}

// Failed changes are logged as well.
PlainEndpoint Api::audited(PlainEndpoint endpoint) {
  return [this, endpoint = std::move(endpoint)](const Call& call) {
    audit_.require_namespace();
    try {
      http::Response response = endpoint(call);
      audit_.note(call, response.status);
      return response;
    } catch (...) {
      audit_.note(call, problem_of_current_exception().status);
      throw;
    }
  };
}

Endpoint Api::waiting(PlainEndpoint endpoint) {
  return [this, endpoint = std::move(endpoint)](Call call, const http::Respond& respond) {
    const auto shared = std::make_shared<const Call>(std::move(call));
    const bool taken = threads_.put(
        [endpoint, shared, respond] { answer(respond, shared->request.id, [&] { respond(endpoint(*shared)); }); });
    if (!taken) throw Refusal{busy()};
  };
}

// All connections share the server's thread, so a long body is parsed on another one.
Endpoint Api::off_thread_if_long(Endpoint endpoint) {
  return [this, endpoint = std::move(endpoint)](Call call, const http::Respond& respond) {
    if (call.request.body.size() <= kReadAtOnce) return endpoint(std::move(call), respond);
    const auto shared = std::make_shared<Call>(std::move(call));
    const bool taken = threads_.put([endpoint, shared, respond] {
      const std::string id = shared->request.id;
      answer(respond, id, [&] { endpoint(std::move(*shared), respond); });
    });
    if (!taken) throw Refusal{busy()};
  };
}

http::Admission Api::admit(http::Request& head) {
  const base::LoggedRequest logged{head.id};
  try {
    return judged(head);
  } catch (...) {
    return problem_of_current_exception();
  }
}

http::Admitted Api::judged(http::Request& head) {
  require_host(head);
  if (auto page = page_for(head, options_.pages)) {
    require_below_rate_limit(address_of(head));
    return {.serve = [page = *std::move(page)](const http::Request&, const http::Respond& respond) { respond(page); },
            .most_body_bytes = 0,
            .known = false};
  }
  const Route& route = route_of(head);
  if (!route.needs) {
    require_below_rate_limit(address_of(head));
    return {.serve = open_call(route), .most_body_bytes = route.most_body_bytes, .known = false};
  }
  const Token who = authenticated(head);
  require_below_rate_limit("token " + who.name);
  return {.serve = call(route, who, head), .most_body_bytes = route.most_body_bytes, .client = who.name};
}

void Api::serve_as(const Token& who, http::Request request, const http::Respond& respond) {
  const std::string id = request.id;
  answer(respond, id, [&] {
    const auto serve = call(route_of(request), who, request);
    serve(std::move(request), respond);
  });
}

const Api::Route& Api::route_of(http::Request& request) const {
  const auto found = router_.find(request);
  if (const auto* others = std::get_if<http::Router<Route>::OtherMethods>(&found)) {
    throw Refusal{{405, "method_not_allowed", "this path allows " + others->allowed, {}, {{"Allow", others->allowed}}}};
  }
  if (const auto* const* route = std::get_if<const Route*>(&found)) return **route;
  throw Refusal{
      {404, "not_found", "there is nothing at " + request.target.path, "GET /v1/openapi.yaml lists all paths"}};
}

http::Serve Api::open_call(const Route& route) {
  return [&route](http::Request request, const http::Respond& respond) {
    const std::string id = request.id;
    answer(respond, id, [&] { route.endpoint({std::move(request), nullptr, {}}, respond); });
  };
}

http::Serve Api::call(const Route& route, const Token& who, const http::Request& head) const {
  if (route.needs && !who.may(*route.needs)) {
    throw Refusal{{403, "forbidden", "the role " + who.role + " of token " + who.name + " may not do this",
                   "`easyretry token create` creates a token with another role"}};
  }
  return [&route, name_space = namespace_of(head, who), who](http::Request request, const http::Respond& respond) {
    // Captures no shared_ptr to the namespace: parts of it may keep this function, and keep the namespace alive anyway.
    const http::Respond timed = [&core = name_space->core(), respond](http::Response response) {
      response.headers.emplace_back(kTimeHeader, base::to_text(core.store_now()));
      respond(std::move(response));
    };
    const std::string id = request.id;
    answer(respond, id, [&] { route.endpoint({std::move(request), name_space, who}, timed); });
  };
}

// Against DNS rebinding: a web page must not reach the daemon by the page's own host name.
void Api::require_host(const http::Request& request) const {
  const std::string_view host = without_port(request.header("host").value_or(""));
  if (std::find(options_.hosts.begin(), options_.hosts.end(), host) != options_.hosts.end()) return;
  throw Refusal{{421, "unknown_host", "\"" + std::string{host} + "\" is not a name of this server",
                 "add it to server.hosts in the configuration"}};
}

void Api::require_below_rate_limit(const std::string& client) {
  const auto wait = rate_limit_.wait_of(client);
  if (!wait) return;
  throw Refusal{{429, "too_many_requests",
                 client + " sends more than " + std::to_string(options_.requests_per_second) + " requests per second",
                 "wait as long as Retry-After says, or send many tasks in one request", retry_after(*wait)}};
}

void Api::require_few_wrong_tokens(const http::Request& request) {
  if (const auto wait = wrong_tokens_.wait_of(request.peer)) {
    throw Refusal{{429, "too_many_wrong_tokens", address_of(request) + " has sent many unknown tokens",
                   "wait as long as Retry-After says; a valid token is still accepted", retry_after(*wait)}};
  }
}

Token Api::authenticated(const http::Request& request) {
  const std::string_view given = request.header("authorization").value_or("");
  if (given.starts_with(kBearer)) {
    if (auto token = tokens_->find(given.substr(kBearer.size()))) return *std::move(token);
  }
  if (given.empty()) {
    if (auto token = logged_in(request)) return *std::move(token);
  }
  require_below_rate_limit(address_of(request));
  if (!given.empty()) require_few_wrong_tokens(request);
  if (given.empty() && !session_secret(request).empty()) {
    throw Refusal{{401, "session_ended", "the session has ended", "log in again"}};
  }
  throw Refusal{{401,
                 "unauthorized",
                 given.empty() ? "the request has no token" : "the token is unknown",
                 "send `Authorization: Bearer er_…`; `easyretry token create` creates a token",
                 {{"WWW-Authenticate", "Bearer"}}}};
}

// A browser sends the cookie for any page that makes the request, so changes need a proof that the page is ours.
std::optional<Token> Api::logged_in(const http::Request& request) {
  const auto session = sessions_.find(session_secret(request));
  if (!session) return std::nullopt;
  const bool reads = request.method == http::Method::get || request.method == http::Method::head;
  if (!reads) require_own_page(request, *session, options_.tls);
  return session->token;
}

// A page of another server must not log a person in with a token of its choice.
std::string Api::log_in(const http::Request& request, std::string_view token) {
  if (origin_of(request, options_.tls) == Origin::other) {
    throw Refusal{
        {403, "csrf", "the request comes from a page of another server", "log in on the page of this server"}};
  }
  if (const auto wait = failed_logins_.waits(request.peer)) {
    throw Refusal{{429, "too_many_wrong_tokens", address_of(request) + " has tried to log in with many unknown tokens",
                   "wait as long as Retry-After says", retry_after(*wait)}};
  }
  const auto known = tokens_->find(token);
  if (!known) {
    failed_logins_.wait_of(request.peer);
    throw Refusal{{401, "unauthorized", "the token is unknown", "`easyretry token create` creates a token"}};
  }
  sessions_.end(session_secret(request));
  return sessions_.begin(*known);
}

// A proxy that speaks TLS says so. A client that lies about it only keeps its own cookie from being sent.
std::string Api::cookie(const http::Request& request, std::string_view secret) const {
  const bool secure = options_.tls || request.header("x-forwarded-proto").value_or("") == "https";
  return session_cookie(secret, Sessions::Limits{}.lasts, secure);
}

std::vector<std::string> Api::namespaces() const {
  std::vector<std::string> names;
  for (const auto& [name, name_space] : namespaces_) names.push_back(name);
  return names;
}

// A token for one namespace uses this namespace; with a token for all, the request names one, or means the default.
std::shared_ptr<Namespace> Api::namespace_of(const http::Request& request, const Token& token) const {
  const auto asked = request.header(kNamespaceHeader);
  const std::string name = asked                               ? std::string{*asked}
                           : token.name_space == kAnyNamespace ? options_.name_space
                                                               : token.name_space;
  const auto found = namespaces_.find(name);
  if (found != namespaces_.end() && token.may_in(name)) return found->second;
  throw Refusal{{403, "forbidden_namespace", "token " + token.name + " is not for the namespace \"" + name + "\"",
                 "leave out the header easyretry-namespace, or use a token for that namespace"}};
}

}  // namespace easyretry::server
