#include "remote/daemon_api.h"

#include <iterator>
#include <utility>

namespace easyretry::remote {
namespace {

// Before each repetition of a request whose response was lost.
constexpr Millis kPauses[] = {Millis{10}, Millis{100}, Millis{1000}};

struct ApiError {
  std::string code;
  std::string text;  // message and hint
};

std::string member(JsonView object, std::string_view key) {
  const auto found = object.find(key);
  if (!found) object.fail_missing(key);
  return std::string{found->as_string()};
}

// Nullopt: not an error response of EasyRetry.
std::optional<ApiError> error_in(const std::string& body) {
  try {
    const JsonDocument document = JsonDocument::parse(body);
    document.root().expect(JsonKind::object);
    const auto error = document.root().find("error");
    if (!error) return std::nullopt;
    ApiError found{member(*error, "code"), member(*error, "message")};
    if (const auto hint = error->find("hint")) found.text.append("; ").append(hint->as_string());
    return found;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

Errc code_of(int status, const std::string& code) {
  if (code == "duplicate_key") return Errc::already_exists;
  if (code == "in_doubt") return Errc::in_doubt;
  if (code == "no_arguments") return Errc::invalid_argument;
  if (status == 404) return Errc::not_found;
  if (status == 409) return Errc::conflict;
  // The same request succeeds later, or with another token or address. Outcomes that wait to be settled are kept.
  if (status == 401 || status == 403 || status == 429 || code == "https_needed") return Errc::unavailable;
  return status >= 500 ? Errc::unavailable : Errc::invalid_argument;
}

}  // namespace

Result<ApiAnswer> DaemonApi::ask(std::string_view where, const HttpRequest& request) {
  return read(where, request, send(request));
}

// After a first try that is in doubt, so is every failure but a refusal: the first request may still be processed.
Result<ApiAnswer> DaemonApi::ask_once(std::string_view where, HttpRequest request) {
  request.headers.push_back("Idempotency-Key: " + std::to_string(names_.next()) + std::to_string(names_.next()));
  const Instant begun = clock_.now();
  for (std::size_t tries = 0;; ++tries) {
    const Sent sent = send(request);
    auto answer = read(where, request, sent);
    if (answer || answer.error().code == Errc::invalid_argument) return answer;
    const auto age = clock_.now() - begun;
    const bool again = tries > 0;
    if (answer.error().code == Errc::already_exists) {
      // A daemon that has forgotten the first request, was restarted since or is older may have found its task.
      const bool known = sent->remembers ? *sent->remembers >= age : !again;
      if (!known) answer.error().code = Errc::in_doubt;
      return answer;
    }
    if (!again && answer.error().code != Errc::in_doubt) return answer;
    answer.error().code = Errc::in_doubt;
    if (tries == std::size(kPauses) || age > request.within) return answer;
    clock_.sleep(kPauses[tries]);
  }
}

Result<ApiAnswer> DaemonApi::read(std::string_view where, const HttpRequest& request, const Sent& sent) const {
  if (!sent) return tl::make_unexpected(no_answer(where, request, sent.error()));
  if (sent->status < 200 || sent->status >= 300) return tl::make_unexpected(refusal(where, *sent));
  if (!sent->time) return tl::make_unexpected(not_a_daemon(where, sent->status));
  try {
    return ApiAnswer{*sent->time, JsonDocument::parse(sent->body)};
  } catch (const JsonError&) {
    return tl::make_unexpected(not_a_daemon(where, sent->status));
  }
}

DaemonApi::Sent DaemonApi::send(const HttpRequest& request) {
  std::unique_ptr<Connection> connection;
  {
    const std::lock_guard lock{mutex_};
    if (!free_.empty()) {
      connection = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!connection) connection = std::make_unique<Connection>(address_);
  auto reply = connection->ask(request);
  const std::lock_guard lock{mutex_};
  free_.push_back(std::move(connection));
  return reply;
}

Error DaemonApi::no_answer(std::string_view where, const HttpRequest& request, const NoAnswer& none) const {
  const std::string place{where};
  switch (none.kind) {
    case NoAnswer::Kind::not_reached:
      return {Errc::unavailable, place,
              "no daemon answers at " + address_.url + " (" + none.why + "); start it with `easyretry serve`"};
    case NoAnswer::Kind::not_trusted:
      return {Errc::unavailable, place,
              "the certificate of " + address_.url + " is not trusted (" + none.why +
                  "); set ca_file to the authority that signed it"};
    case NoAnswer::Kind::no_tls:
      return {Errc::unavailable, place,
              "the server at " + address_.url + " does not speak TLS (" + none.why +
                  "); use http:// for a daemon without a certificate"};
    case NoAnswer::Kind::lost:
    case NoAnswer::Kind::stopped: break;
  }
  return {request.changes() ? Errc::in_doubt : Errc::unavailable, place,
          "no answer from the daemon at " + address_.url + ": " + none.why};
}

Error DaemonApi::refusal(std::string_view where, const HttpReply& reply) const {
  const auto error = error_in(reply.body);
  if (!error) return not_a_daemon(where, reply.status);
  std::string text = "the daemon at " + address_.url + " says: " + error->text;
  if (reply.status == 401 || reply.status == 403) {
    text +=
        ". An application needs a token with the role application for its namespace: `easyretry token create NAME "
        "--role application --namespace " +
        (address_.name_space.empty() ? "NAMESPACE" : address_.name_space) + "`";
  }
  return {code_of(reply.status, error->code), std::string{where}, std::move(text)};
}

// 502 and 504 come from a proxy that may have passed the request on.
Error DaemonApi::not_a_daemon(std::string_view where, int status) const {
  return {status >= 500 || status < 300 ? Errc::in_doubt : Errc::unavailable, std::string{where},
          "the server at " + address_.url + " is not an EasyRetry daemon of this version (HTTP " +
              std::to_string(status) + "); check the address, and that the daemon is not older than this program"};
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
  }
  return encoded;
}

}  // namespace easyretry::remote
