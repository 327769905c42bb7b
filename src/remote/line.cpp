#include "remote/line.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "base/time_text.h"

namespace easyretry::remote {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20U;  // a lease of 200 tasks with the largest arguments
// Tasks in an answer that is not read wait for the end of their lease, and look like a crash.
constexpr Millis kLastAnswer{250};
constexpr std::string_view kTimeHeader = "easyretry-time:";
constexpr std::string_view kReachHeader = "easyretry-remembers-ms:";

// The value in a header line of this name; nullopt for another name.
std::optional<std::string_view> value_of(std::string_view name, std::string_view line) {
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  if (line.size() <= name.size() || !std::equal(name.begin(), name.end(), line.begin(), same)) return std::nullopt;
  std::string_view value = line.substr(name.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of("\r\n"));
}

// A value that cannot be read is ignored: code that needs it says so.
void take_header(std::string_view line, HttpReply& reply) {
  if (const auto time = value_of(kTimeHeader, line)) {
    try {
      reply.time = base::parse_time(*time);
    } catch (const std::invalid_argument&) {
    }
  } else if (const auto reach = value_of(kReachHeader, line)) {
    std::int64_t millis = 0;
    if (std::from_chars(reach->begin(), reach->end(), millis).ec == std::errc{}) reply.remembers = Millis{millis};
  }
}

const char* name_of(HttpRequest::Method method) {
  switch (method) {
    case HttpRequest::Method::get: return "GET";
    case HttpRequest::Method::post: return "POST";
    case HttpRequest::Method::patch: return "PATCH";
  }
  return "GET";
}

}  // namespace

tl::expected<HttpReply, NoAnswer> Line::ask(const HttpRequest& request) {
  HttpReply reply;
  http::ClientRequest sent{.method = name_of(request.method),
                           .url = address_.url + request.target,
                           .tls = {.ca_file = address_.ca_file},
                           .use_proxy = !address_.url.starts_with("http:"),
                           .within = request.within,
                           .most_bytes = kMostBytes,
                           .stop = request.stop,
                           .after_stop = kLastAnswer,
                           .on_header = [&](std::string_view line) { take_header(line, reply); },
                           .stream = request.stream};
  if (request.changes()) {
    sent.body = request.body;
    sent.headers.emplace_back("Content-Type: application/json");
  }
  if (!address_.token.empty()) sent.headers.push_back("Authorization: Bearer " + address_.token);
  if (!address_.space.empty()) sent.headers.push_back("easyretry-namespace: " + address_.space);
  sent.headers.insert(sent.headers.end(), request.headers.begin(), request.headers.end());
  auto answer = client_.ask(sent);
  if (!answer) return tl::make_unexpected(std::move(answer.error()));
  reply.status = answer->status;
  reply.body = std::move(answer->body);
  return reply;
}

}  // namespace easyretry::remote
