#include "remote/daemon_api.h"

#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

namespace easyretry::remote {
namespace {

// Between the tries to get an answer that was lost.
constexpr Millis kPauses[] = {Millis{10}, Millis{100}, Millis{1000}};

struct Said {
  std::string code;
  std::string words;
};

std::string text(JsonView object, std::string_view key) {
  const auto found = object.find(key);
  if (!found) object.fail_missing(key);
  return std::string{found->as_string()};
}

// Nullopt: this is no error of EasyRetry's.
std::optional<Said> said_in(const std::string& body) {
  try {
    const JsonDocument document = JsonDocument::parse(body);
    document.root().expect(JsonKind::object);
    const auto error = document.root().find("error");
    if (!error) return std::nullopt;
    Said said{text(*error, "code"), text(*error, "message")};
    if (const auto hint = error->find("hint")) said.words.append("; ").append(hint->as_string());
    return said;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

Errc code_of(int status, const std::string& said) {
  if (said == "duplicate_key") return Errc::already_exists;
  if (said == "in_doubt") return Errc::in_doubt;
  if (status == 404) return Errc::not_found;
  if (status == 409) return Errc::conflict;
  // With another token, or address, or later, the same request is right; what waits to be settled must not be given up
  // for it.
  if (status == 401 || status == 403 || status == 429 || said == "https_needed") return Errc::unavailable;
  return status >= 500 ? Errc::unavailable : Errc::invalid_argument;
}

}  // namespace

Result<ApiAnswer> DaemonApi::ask(std::string_view where, const HttpRequest& request) {
  return read(where, request, send(request));
}

// What leaves the first one in doubt: no answer, one that others gave, or one that says to come again.
Result<ApiAnswer> DaemonApi::ask_once(std::string_view where, HttpRequest request) {
  request.headers.push_back("Idempotency-Key: " + std::to_string(names_.next()) + std::to_string(names_.next()));
  const auto begun = std::chrono::steady_clock::now();
  for (std::size_t tries = 0;; ++tries) {
    const Sent sent = send(request);
    auto answer = read(where, request, sent);
    if (answer || answer.error().code == Errc::invalid_argument) return answer;
    const auto age = std::chrono::steady_clock::now() - begun;
    const bool again = tries > 0;
    if (answer.error().code == Errc::already_exists) {
      // One that has forgotten, or was started since, or is of an earlier release, may mean what the first one stored.
      const bool known = sent->remembers ? *sent->remembers >= age : !again;
      if (!known) answer.error().code = Errc::in_doubt;
      return answer;
    }
    if (!again && answer.error().code != Errc::in_doubt) return answer;
    answer.error().code = Errc::in_doubt;
    if (tries == std::size(kPauses) || age > request.within) return answer;
    std::this_thread::sleep_for(kPauses[tries]);
  }
}

Result<ApiAnswer> DaemonApi::read(std::string_view where, const HttpRequest& request, const Sent& sent) const {
  if (!sent) return tl::make_unexpected(silence(where, request, sent.error()));
  if (sent->status < 200 || sent->status >= 300) return tl::make_unexpected(refusal(where, *sent));
  if (!sent->time) return tl::make_unexpected(stranger(where, sent->status));
  try {
    return ApiAnswer{*sent->time, JsonDocument::parse(sent->body)};
  } catch (const JsonError&) {
    return tl::make_unexpected(stranger(where, sent->status));
  }
}

DaemonApi::Sent DaemonApi::send(const HttpRequest& request) {
  std::unique_ptr<Line> line;
  {
    const std::lock_guard lock{mutex_};
    if (!free_.empty()) {
      line = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!line) line = std::make_unique<Line>(address_);
  auto reply = line->ask(request);
  const std::lock_guard lock{mutex_};
  free_.push_back(std::move(line));
  return reply;
}

Error DaemonApi::silence(std::string_view where, const HttpRequest& request, const NoAnswer& none) const {
  const std::string place{where};
  switch (none.kind) {
    case NoAnswer::Kind::not_reached:
      return {Errc::unavailable, place,
              "no daemon answers at " + address_.url + " (" + none.why + "); start it with `easyretry serve`"};
    case NoAnswer::Kind::not_trusted:
      return {Errc::unavailable, place,
              "the certificate of " + address_.url + " is not trusted (" + none.why +
                  "); name the one that vouches for it as ca_file"};
    case NoAnswer::Kind::no_tls:
      return {Errc::unavailable, place,
              "what answers at " + address_.url + " does not speak TLS (" + none.why +
                  "); a daemon without a certificate is at http://"};
    case NoAnswer::Kind::lost:
    case NoAnswer::Kind::stopped: break;
  }
  return {request.changes() ? Errc::in_doubt : Errc::unavailable, place,
          "no answer from the daemon at " + address_.url + ": " + none.why};
}

Error DaemonApi::refusal(std::string_view where, const HttpReply& reply) const {
  const auto said = said_in(reply.body);
  if (!said) return stranger(where, reply.status);
  std::string words = "the daemon at " + address_.url + " says: " + said->words;
  if (reply.status == 401 || reply.status == 403) {
    words +=
        ". An application needs a token of the role application for its namespace: `easyretry token create NAME "
        "--role application --space " +
        (address_.space.empty() ? "SPACE" : address_.space) + "`";
  }
  if (reply.status == 413) words += "; send less at a time: lower EngineOptions::batch";
  return {code_of(reply.status, said->code), std::string{where}, std::move(words)};
}

// A proxy that gives up after it has passed the request on says so with 502 or 504.
Error DaemonApi::stranger(std::string_view where, int status) const {
  return {status >= 500 || status < 300 ? Errc::in_doubt : Errc::unavailable, std::string{where},
          "what answers at " + address_.url + " is not this EasyRetry (HTTP " + std::to_string(status) +
              "); check the address, and that the daemon is no older than this program"};
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
