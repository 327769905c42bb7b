#include "remote/connection.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <arpa/inet.h>
#include <curl/curl.h>

#include "base/time_text.h"

namespace easyretry::remote {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20U;  // of a response
// Tasks in a response that is not read wait until their lease expires, and count as a crash.
constexpr Millis kLastResponse{250};
constexpr std::string_view kTimeHeader = "easyretry-time:";
constexpr std::string_view kReachHeader = "easyretry-remembers-ms:";

using Parsed = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part_of(const Parsed& address, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(address.get(), part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner{text, curl_free};
  return text;
}

// A host name that begins with "127." may belong to any machine.
bool is_loopback(const std::string& host) {
  constexpr std::uint32_t kNet = 127;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == kNet;
  return host == "localhost" || host == "[::1]";
}

void check_url(const std::string& url) {
  const Parsed parsed{curl_url(), curl_url_cleanup};
  const bool is_url = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  const std::string scheme = part_of(parsed, CURLUPART_SCHEME);
  if (!is_url || (scheme != "http" && scheme != "https") || part_of(parsed, CURLUPART_PATH) != "/" ||
      !part_of(parsed, CURLUPART_QUERY).empty() || !part_of(parsed, CURLUPART_USER).empty()) {
    throw std::invalid_argument("\"" + url +
                                "\" is not the address of a daemon; write it as http://127.0.0.1:7077 or "
                                "https://retry.example:7077");
  }
  if (scheme == "http" && !is_loopback(part_of(parsed, CURLUPART_HOST))) {
    throw std::invalid_argument("\"" + url +
                                "\" is on another machine, and the token must not be sent unencrypted; use "
                                "https://, or a tunnel to 127.0.0.1");
  }
}

// The value of the header, if this is its line.
std::optional<std::string_view> value_of(std::string_view name, std::string_view line) {
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  if (line.size() <= name.size() || !std::equal(name.begin(), name.end(), line.begin(), same)) return std::nullopt;
  std::string_view value = line.substr(name.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of("\r\n"));
}

// A header that cannot be parsed is ignored, as if it were missing.
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

DaemonAddress checked(DaemonAddress address) {
  check_url(address.url);
  while (address.url.ends_with('/')) address.url.pop_back();
  // Both are sent as headers.
  if ((address.token + address.name_space).find_first_of("\r\n") != std::string::npos) {
    throw std::invalid_argument("a token and a namespace must not contain line breaks");
  }
  return address;
}

void require_ca_file(const std::string& file) {
  if (file.empty() || std::ifstream{file}.peek() != std::ifstream::traits_type::eof()) return;
  throw std::invalid_argument("ca_file " + file +
                              " cannot be read; it must contain, in PEM, the authority that signed the daemon's "
                              "certificate");
}

std::string read_token(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::string token;
  if (in >> token) return token;
  throw std::invalid_argument("there is no token in " + file.string() +
                              "; it must be a readable file that begins with the token, \"er_…\"");
}

tl::expected<HttpReply, NoAnswer> Connection::ask(const HttpRequest& request) {
  HttpReply reply;
  http::ClientRequest sent{.method = name_of(request.method),
                           .url = address_.url + request.target,
                           .tls = {.ca_file = address_.ca_file},
                           .use_proxy = !address_.url.starts_with("http:"),
                           .within = request.within,
                           .most_bytes = kMostBytes,
                           .stop = request.stop,
                           .after_stop = kLastResponse,
                           .on_header = [&](std::string_view line) { take_header(line, reply); },
                           .stream = request.stream};
  if (request.changes()) {
    sent.body = request.body;
    sent.headers.emplace_back("Content-Type: application/json");
  }
  if (!address_.token.empty()) sent.headers.push_back("Authorization: Bearer " + address_.token);
  if (!address_.name_space.empty()) sent.headers.push_back("easyretry-namespace: " + address_.name_space);
  sent.headers.insert(sent.headers.end(), request.headers.begin(), request.headers.end());
  auto answer = client_.ask(sent);
  if (!answer) return tl::make_unexpected(std::move(answer.error()));
  reply.status = answer->status;
  reply.body = std::move(answer->body);
  return reply;
}

}  // namespace easyretry::remote
