// /v1/session: log in and out; /v1/whoami, /v1/namespaces and /v1/tokens: what tokens may do, and where.

#include <array>

#include <easyretry/version.h>

#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

using http::Method;

constexpr std::size_t kLoginBody = 4096;  // from clients that have not yet sent a token

constexpr std::array<std::pair<Right, std::string_view>, 6> kRights{{{Right::view, "view"},
                                                                     {Right::submit, "submit"},
                                                                     {Right::work, "work"},
                                                                     {Right::operate, "operate"},
                                                                     {Right::payloads, "payloads"},
                                                                     {Right::administer, "administer"}}};

struct Whoami {
  std::string_view name;
  std::string_view role;
  std::vector<std::string_view> rights{};
  ShownJson namespaces;
  std::string_view version;
  ShownText store;
  ShownText durability;
  std::vector<std::string> features;
};
EASYRETRY_JSON(Whoami, name, role, rights, namespaces, version, store, durability, features)

struct SessionPart {
  std::string_view csrf;
  ShownTime expires_at;
};
EASYRETRY_JSON(SessionPart, csrf, expires_at)

using SessionAnswer = Joined<SessionPart, Whoami>;

struct NamespacesAnswer {
  std::vector<std::string> namespaces;
};
EASYRETRY_JSON(NamespacesAnswer, namespaces)

// Never has the hash, which is the only thing that the file of tokens protects.
struct TokenAnswer {
  std::string_view name;
  std::string_view role;
  ShownJson namespaces;
  std::optional<ShownTime> last_used;
};
EASYRETRY_JSON(TokenAnswer, name, role, namespaces, last_used)

struct TokensAnswer {
  std::vector<TokenAnswer> tokens{};
};
EASYRETRY_JSON(TokensAnswer, tokens)

// ["shop"], or "*" for all.
std::string namespaces_json(const Token& token) {
  if (token.name_space == kAnyNamespace) return to_json(std::string{kAnyNamespace});
  return to_json(std::vector<std::string>{token.name_space});
}

// The answer refers to its arguments.
Whoami whoami_of(const Token& token, const About& about, const std::string& namespaces) {
  Whoami answer{.name = token.name,
                .role = token.role,
                .namespaces = {namespaces},
                .version = EASYRETRY_VERSION,
                .store = {about.store},
                .durability = {about.durability},
                .features = about.features};
  for (const auto& [right, name] : kRights) {
    if (token.may(right)) answer.rights.push_back(name);
  }
  return answer;
}

std::string session_text(const Session& session, const About& about) {
  const std::string namespaces = namespaces_json(session.token);
  const SessionAnswer answer{{session.csrf, session.expires_at}, whoami_of(session.token, about, namespaces)};
  return to_json(answer);
}

std::string token_in(const http::Request& request) {
  const JsonDocument body = JsonDocument::parse(request.body);
  Fields fields{body.root()};
  std::string token{fields.need("token").as_string()};
  fields.end();
  return token;
}

http::Response log_in(const Call& call, Api& api, const About& about) {
  require_known(call.request, {});
  const std::string secret = api.log_in(call.request, token_in(call.request));
  const auto session = api.sessions().find(secret);
  if (!session) throw Refusal{{401, "unauthorized", "the token was revoked just now"}};
  http::Response response{.body = session_text(*session, about)};
  response.headers.emplace_back("Set-Cookie", api.cookie(call.request, secret));
  return response;
}

http::Response show_session(const Call& call, Api& api, const About& about) {
  require_known(call.request, {});
  const auto session = api.sessions().find(session_secret(call.request));
  if (session) return {.body = session_text(*session, about)};
  throw Refusal{{401, "no_session", "the request has no session cookie", "log in with POST /v1/session"}};
}

http::Response log_out(const Call& call, Api& api) {
  require_known(call.request, {});
  if (!api.sessions().end(session_secret(call.request))) {
    throw Refusal{{401, "no_session", "the request has no session cookie", "there is nothing to log out of"}};
  }
  http::Response response{.body = R"({"logged_out":true})"};
  response.headers.emplace_back("Set-Cookie", api.cookie(call.request, ""));
  return response;
}

http::Response whoami(const Call& call, const About& about) {
  require_known(call.request, {});
  const std::string namespaces = namespaces_json(call.by);
  return {.body = to_json(whoami_of(call.by, about, namespaces))};
}

http::Response list_namespaces(const Call& call, const std::vector<std::string>& served) {
  require_known(call.request, {});
  NamespacesAnswer answer;
  for (const std::string& name : served) {
    if (call.by.may_in(name)) answer.namespaces.push_back(name);
  }
  return {.body = to_json(answer)};
}

// Lists the tokens that are valid in a namespace of the client.
http::Response list_tokens(const Call& call, Tokens& tokens) {
  require_known(call.request, {});
  std::vector<Token> shown = tokens.all();
  if (call.by.name_space != kAnyNamespace) {
    std::erase_if(shown, [&](const Token& token) { return !token.may_in(call.by.name_space); });
  }
  std::vector<std::string> namespaces;
  namespaces.reserve(shown.size());  // the answer refers to them
  TokensAnswer answer;
  for (const Token& token : shown) {
    namespaces.push_back(namespaces_json(token));
    answer.tokens.push_back({token.name, token.role, {namespaces.back()}, token.last_used});
  }
  return {.body = to_json(answer)};
}

}  // namespace

void add_identity_endpoints(Api& api, const About& about) {
  api.add_open(Method::post, "/v1/session",
               PlainEndpoint{[&api, about](const Call& call) { return log_in(call, api, about); }}, kLoginBody);
  api.add(Method::get, "/v1/session", Right::none,
          PlainEndpoint{[&api, about](const Call& call) { return show_session(call, api, about); }});
  api.add(Method::del, "/v1/session", Right::none,
          PlainEndpoint{[&api](const Call& call) { return log_out(call, api); }});
  api.add(Method::get, "/v1/whoami", Right::none,
          PlainEndpoint{[about](const Call& call) { return whoami(call, about); }});
  api.add(Method::get, "/v1/namespaces", Right::none,
          PlainEndpoint{[served = api.namespaces()](const Call& call) { return list_namespaces(call, served); }});
  api.add(Method::get, "/v1/tokens", Right::administer,
          PlainEndpoint{[&api](const Call& call) { return list_tokens(call, api.tokens()); }});
}

}  // namespace easyretry::server
