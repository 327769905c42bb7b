#include "nacos/http_caller.h"

#include <algorithm>

#include <easyretry/json_text.h>

#include "nacos/protocol.h"

namespace easyretry::nacos {
namespace {

constexpr std::size_t kMostText = 200;  // of an answer, in an error

// The numbers of gRPC are those of HTTP where they mean the same; 3xx do not.
int code_of(const HttpReply& reply) {
  const auto status = static_cast<int>(reply.status);
  return status == codes::kWrongParameter || status == codes::kNoRight ? status : codes::kFailed;
}

std::string text_of(const HttpReply& reply) {
  return "HTTP status " + std::to_string(reply.status) + ", " +
         reply.body.substr(0, std::min(reply.body.find('\n'), kMostText));
}

}  // namespace

Result<void> HttpCaller::log_in_if_due(const ServerAddress& server) {
  if (std::chrono::steady_clock::now() < login_.due()) return {};
  return login_.renew(server, stop_);
}

Result<std::string> HttpCaller::ask(const ServerAddress& server, const HttpCall& call) {
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

Result<std::vector<Instance>> HttpCaller::list(const ServerAddress& server, HttpDialect dialect,
                                               const ServiceName& service, const std::string& cluster) try {
  const auto body = ask(server, list_call(dialect, options_.space, service, cluster));
  if (!body) return tl::make_unexpected(body.error());
  return read_list(dialect, *body);
} catch (const JsonError& error) {
  return fail(Errc::unavailable, "nacos.list", std::string{"cannot read the list: "} + error.what());
}

std::optional<Instant> HttpCaller::last_heard() const {
  const Instant heard = last_heard_;
  return heard == Instant{} ? std::nullopt : std::optional{heard};
}

}  // namespace easyretry::nacos
