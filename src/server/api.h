#pragma once
// From a request to its endpoint: who asks, whether he may, in which namespace; and what went wrong, as an answer.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <easyretry/options.h>

#include "http/admit.h"
#include "http/router.h"
#include "server/api_threads.h"
#include "server/audit.h"
#include "server/rate_limit.h"
#include "server/wrong_tokens.h"

namespace easyretry::server {

using Spaces = std::map<std::string, std::shared_ptr<Space>>;

// In which namespace a token of all of them asks.
inline const std::string kNamespaceHeader = "easyretry-namespace";

// In answers: the store's time at that moment.
inline const std::string kTimeHeader = "easyretry-time";

// What bodies of requests have to fit into: words about one task or handler, the names of many handlers, and tasks with
// their arguments or results.
inline constexpr std::size_t kShortBody = 65'536;
inline constexpr std::size_t kBodyOfNames = 1'048'576;
inline constexpr std::size_t kLongBody = 8'388'608;

// Names a submission, which is not stored again under this name.
inline const std::string kIdempotencyHeader = "idempotency-key";

// In its answer: for how long back such names are known.
inline const std::string kReachHeader = "easyretry-remembers-ms";

struct ApiOptions {
  std::string space;               // meant by a token of all namespaces that names none
  std::vector<std::string> hosts;  // names, without port, that may stand in Host
  std::string audit;               // the file that changes by operators are written to
  int requests_per_second = 0;     // 0: no limit
  LogSink log;
};

class Api {
 public:
  Api(Spaces spaces, std::shared_ptr<Tokens> tokens, ApiOptions options);

  // For the HttpServer: all that the head of a request says about whether it may be made, and what then serves it.
  http::Admission admit(http::Request& head);
  // For whoever was let in already, by whatever means, and asks over no network: neither Host nor token are looked at.
  void serve_as(const Token& who, http::Request request, const http::Respond& respond);

  // Everybody may see these, and sends no body.
  void add_open(http::Method method, std::string_view path, PlainEndpoint endpoint);
  void add_open(http::Method method, std::string_view path, Endpoint endpoint);
  void add(http::Method method, std::string_view path, Right needs, Endpoint endpoint,
           std::size_t most_body_bytes = kShortBody);
  void add(http::Method method, std::string_view path, Right needs, PlainEndpoint endpoint,
           std::size_t most_body_bytes = kShortBody);

  ApiThreads& threads() { return threads_; }
  std::vector<std::string> routes() const { return router_.all(); }

 private:
  struct Route {
    std::optional<Right> needs;  // nullopt: open to everybody
    Endpoint endpoint;
    std::size_t most_body_bytes = 0;
  };

  http::Admitted judged(http::Request& head);
  const Route& route_of(http::Request& request) const;
  http::Serve open_call(const Route& route) const;
  http::Serve call(const Route& route, const Token& who, const http::Request& head) const;
  void require_host(const http::Request& request) const;
  Token authenticated(const http::Request& request);
  void require_patience(const http::Request& request);
  void require_moderation(const std::string& who);
  std::shared_ptr<Space> space_of(const http::Request& request, const Token& token) const;
  Endpoint waiting(PlainEndpoint endpoint);
  Endpoint aside_if_long(Endpoint endpoint);
  PlainEndpoint audited(PlainEndpoint endpoint);

  const Spaces spaces_;
  const std::shared_ptr<Tokens> tokens_;
  const ApiOptions options_;
  Audit audit_;
  RateLimit rate_limit_;
  WrongTokens wrong_tokens_{{}, system_clock()};
  http::Router<Route> router_;
  ApiThreads threads_;
};

// Runs `work` and answers for what it throws.
void answer(const http::Respond& respond, const std::string& request_id, const LogSink& log,
            const std::function<void()>& work);

}  // namespace easyretry::server
