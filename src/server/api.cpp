#include "server/api.h"

#include <algorithm>

#include "base/time_text.h"
#include "server/refusal.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kMostWaiting = 2000;
// Of what comes to the server's thread, that much may be read there: a quarter of a millisecond at the most.
constexpr std::size_t kReadAtOnce = 4096;
constexpr std::string_view kBearer = "Bearer ";

http::Problem busy() {
  return {503, "busy", "too many requests wait for the store", "try again a little later", {{"Retry-After", "1"}}};
}

std::string address_of(const http::Request& request) {
  return "address " + network_of(request.peer);
}

// In whole seconds, as HTTP says it.
std::vector<std::pair<std::string, std::string>> retry_after(std::chrono::nanoseconds wait) {
  return {{"Retry-After", std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count())}};
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

// Of the exception that is being handled.
http::Problem logged_problem(const std::string& request_id, const LogSink& log) {
  const http::Problem problem = problem_of_current_exception();
  if (problem.status < 500 || !log) return problem;
  std::string why = problem.message;
  try {
    throw;
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
  }
  log(LogLevel::error, "request " + request_id + ": " + why);
  return problem;
}

}  // namespace

void answer(const http::Respond& respond, const std::string& request_id, const LogSink& log,
            const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    respond(http::to_response(logged_problem(request_id, log), request_id));
  }
}

Api::Api(Spaces spaces, std::shared_ptr<Tokens> tokens, ApiOptions options)
    : spaces_(std::move(spaces)),
      tokens_(std::move(tokens)),
      options_(std::move(options)),
      audit_(options_.audit, options_.log),
      rate_limit_(options_.requests_per_second, system_clock()),
      threads_(kThreads, kMostWaiting) {}

void Api::add_open(http::Method method, std::string_view path, PlainEndpoint endpoint) {
  router_.add(method, path, {std::nullopt, waiting(std::move(endpoint))});
}

void Api::add_open(http::Method method, std::string_view path, Endpoint endpoint) {
  router_.add(method, path, {std::nullopt, std::move(endpoint)});
}

void Api::add(http::Method method, std::string_view path, Right needs, Endpoint endpoint, std::size_t most_body_bytes) {
  router_.add(method, path, {needs, aside_if_long(std::move(endpoint)), most_body_bytes});
}

void Api::add(http::Method method, std::string_view path, Right needs, PlainEndpoint endpoint,
              std::size_t most_body_bytes) {
  const bool changes = method != http::Method::get;
  if (changes && (needs == Right::operate || needs == Right::administer)) endpoint = audited(std::move(endpoint));
  router_.add(method, path, {needs, waiting(std::move(endpoint)), most_body_bytes});
}

// What was tried in vain is written down, too.
PlainEndpoint Api::audited(PlainEndpoint endpoint) {
  return [this, endpoint = std::move(endpoint)](const Call& call) {
    audit_.require_room();
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
    const bool taken = threads_.put([this, endpoint, shared, respond] {
      answer(respond, shared->request.id, options_.log, [&] { respond(endpoint(*shared)); });
    });
    if (!taken) throw Refusal{busy()};
  };
}

// Everybody waits for the server's thread, so a long body is read elsewhere.
Endpoint Api::aside_if_long(Endpoint endpoint) {
  return [this, endpoint = std::move(endpoint)](Call call, const http::Respond& respond) {
    if (call.request.body.size() <= kReadAtOnce) return endpoint(std::move(call), respond);
    const auto shared = std::make_shared<Call>(std::move(call));
    const bool taken = threads_.put([this, endpoint, shared, respond] {
      const std::string id = shared->request.id;
      answer(respond, id, options_.log, [&] { endpoint(std::move(*shared), respond); });
    });
    if (!taken) throw Refusal{busy()};
  };
}

http::Admission Api::admit(http::Request& head) {
  try {
    return judged(head);
  } catch (...) {
    return logged_problem(head.id, options_.log);
  }
}

http::Admitted Api::judged(http::Request& head) {
  require_host(head);
  const Route& route = route_of(head);
  if (!route.needs) {
    require_moderation(address_of(head));
    return {.serve = open_call(route), .most_body_bytes = route.most_body_bytes, .known = false};
  }
  const Token who = authenticated(head);
  require_moderation("token " + who.name);
  return {.serve = call(route, who, head), .most_body_bytes = route.most_body_bytes, .client = who.name};
}

void Api::serve_as(const Token& who, http::Request request, const http::Respond& respond) {
  const std::string id = request.id;
  answer(respond, id, options_.log, [&] {
    const auto serve = call(route_of(request), who, request);
    serve(std::move(request), respond);
  });
}

const Api::Route& Api::route_of(http::Request& request) const {
  const auto found = router_.find(request);
  if (const auto* others = std::get_if<http::Router<Route>::OtherMethods>(&found)) {
    throw Refusal{{405, "method_not_allowed", "this path takes " + others->allowed, {}, {{"Allow", others->allowed}}}};
  }
  if (const auto* const* route = std::get_if<const Route*>(&found)) return **route;
  throw Refusal{{404, "not_found", "there is nothing at " + request.target.path, "GET /v1/openapi.yaml lists all"}};
}

http::Serve Api::open_call(const Route& route) const {
  return [this, &route](http::Request request, const http::Respond& respond) {
    const std::string id = request.id;
    answer(respond, id, options_.log, [&] { route.endpoint({std::move(request), nullptr, {}}, respond); });
  };
}

http::Serve Api::call(const Route& route, const Token& who, const http::Request& head) const {
  if (route.needs && !who.may(*route.needs)) {
    throw Refusal{{403, "forbidden", "the role " + who.role + " of token " + who.name + " may not do this",
                   "`easyretry token create` makes one that may"}};
  }
  return [this, &route, space = space_of(head, who), who](http::Request request, const http::Respond& respond) {
    // Not the space itself, whose own parts may keep this: whoever answers is one of them, or keeps it.
    const http::Respond timed = [&core = space->core(), respond](http::Response response) {
      response.headers.emplace_back(kTimeHeader, base::to_text(core.store_now()));
      respond(std::move(response));
    };
    const std::string id = request.id;
    answer(respond, id, options_.log, [&] { route.endpoint({std::move(request), space, who}, timed); });
  };
}

// A page that some browser is shown must not reach us by a name of its own (DNS rebinding).
void Api::require_host(const http::Request& request) const {
  const std::string_view host = without_port(request.header("host").value_or(""));
  if (std::find(options_.hosts.begin(), options_.hosts.end(), host) != options_.hosts.end()) return;
  throw Refusal{{421, "unknown_host", "\"" + std::string{host} + "\" is no name of this server",
                 "add it to server.hosts in the configuration"}};
}

void Api::require_moderation(const std::string& who) {
  const auto wait = rate_limit_.wait_of(who);
  if (!wait) return;
  throw Refusal{{429, "too_many_requests",
                 who + " asks more than " + std::to_string(options_.requests_per_second) + " times a second",
                 "wait for as long as Retry-After says, or send many tasks in one request", retry_after(*wait)}};
}

void Api::require_patience(const http::Request& request) {
  if (const auto wait = wrong_tokens_.wait_of(request.peer)) {
    throw Refusal{{429, "too_many_wrong_tokens", address_of(request) + " has sent many tokens that are not known here",
                   "wait for as long as Retry-After says; a right token is let in meanwhile", retry_after(*wait)}};
  }
}

Token Api::authenticated(const http::Request& request) {
  const std::string_view given = request.header("authorization").value_or("");
  if (given.starts_with(kBearer)) {
    if (auto token = tokens_->find(given.substr(kBearer.size()))) return *std::move(token);
  }
  require_moderation(address_of(request));
  if (!given.empty()) require_patience(request);
  throw Refusal{{401,
                 "unauthorized",
                 given.empty() ? "no token was given" : "the token is not known here",
                 "send `Authorization: Bearer er_…`; `easyretry token create` makes one",
                 {{"WWW-Authenticate", "Bearer"}}}};
}

// A token of one namespace speaks of that one; one of all says which, or means the usual one.
std::shared_ptr<Space> Api::space_of(const http::Request& request, const Token& token) const {
  const auto asked = request.header(kNamespaceHeader);
  const std::string name = asked ? std::string{*asked} : token.space == kAnyNamespace ? options_.space : token.space;
  const auto found = spaces_.find(name);
  if (found != spaces_.end() && token.may_in(name)) return found->second;
  throw Refusal{{403, "forbidden_namespace", "the namespace \"" + name + "\" is not open to token " + token.name,
                 "leave out the header easyretry-namespace, or use a token of that namespace"}};
}

}  // namespace easyretry::server
