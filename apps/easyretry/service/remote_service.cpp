#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "remote/connection.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

using remote::NoAnswer;

remote::HttpRequest::Method remote_method_of(const ApiRequest& request) {
  using To = remote::HttpRequest::Method;
  switch (request.method) {
    case Method::get: return To::get;
    case Method::post: return To::post;
    case Method::patch: return To::patch;
  }
  return To::get;
}

class RemoteService final : public Service {
 public:
  explicit RemoteService(remote::DaemonAddress daemon) : daemon_(checked_option(std::move(daemon))), line_(daemon_) {}

  nlohmann::json ask(const ApiRequest& request) override {
    const auto reply =
        line_.ask({.method = remote_method_of(request), .target = target_of(request), .body = request.body});
    if (!reply) throw std::runtime_error(no_answer(reply.error(), request));
    return answer_of(daemon_, reply->status, reply->body);
  }

 private:
  std::string no_answer(const NoAnswer& none, const ApiRequest& request) const {
    const std::string text = no_answer_text(daemon_, none);
    if (none.kind == NoAnswer::Kind::not_reached) return text + ", or open its store with --store";
    const bool perhaps_done = request.changes() && none.kind == NoAnswer::Kind::lost;
    return text + (perhaps_done ? "; it is unknown whether it was done: check before trying again" : "");
  }

  const remote::DaemonAddress daemon_;
  remote::Connection line_;
};

}  // namespace

remote::DaemonAddress checked_option(remote::DaemonAddress daemon) {
  try {
    return remote::checked(std::move(daemon));
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(std::string{"--server "} + e.what());
  }
}

nlohmann::json answer_of(const remote::DaemonAddress& daemon, int status, const std::string& body) {
  auto answer = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const bool good = status >= 200 && status < 300;
  if (!answer.is_object() || (!good && !answer.contains("error"))) {
    throw std::runtime_error(
        fmt::format("the server at {} is not EasyRetry (HTTP {}); check --server", daemon.url, status));
  }
  if (!good) throw ApiError{status, answer};
  return answer;
}

std::string no_answer_text(const remote::DaemonAddress& daemon, const NoAnswer& none) {
  switch (none.kind) {
    case NoAnswer::Kind::not_reached:
      return fmt::format(
          "no daemon answers at {} ({}); start it with `easyretry serve`, or give its address with --server",
          daemon.url, none.why);
    case NoAnswer::Kind::not_trusted:
      return fmt::format("the certificate of {} is not trusted ({}); give its certificate authority with --ca-file",
                         daemon.url, none.why);
    case NoAnswer::Kind::no_tls:
      return fmt::format("the server at {} does not speak TLS ({}); use http:// for a daemon without a certificate",
                         daemon.url, none.why);
    default: return fmt::format("no answer from {}: {}", daemon.url, none.why);
  }
}

std::unique_ptr<Service> open_remote_service(remote::DaemonAddress daemon) {
  return std::make_unique<RemoteService>(std::move(daemon));
}

}  // namespace easyretry::app
