#include "webhook/destination.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <stdexcept>

#include <curl/curl.h>

namespace easyretry::webhook {
namespace {

constexpr std::size_t kLongestUrl = 4096;

using Parsed = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

[[noreturn]] void refuse_url(const std::string& why) {
  throw std::invalid_argument("this URL cannot be called: " + why);
}

void check_characters(std::string_view url) {
  if (url.empty() || url.size() > kLongestUrl)
    refuse_url("it must have 1 to " + std::to_string(kLongestUrl) + " characters");
  if (std::ranges::all_of(url, [](unsigned char c) { return c > ' ' && c < 0x7f; })) return;
  refuse_url(
      "it contains a space or a character outside ASCII; write a path in %-escapes and a host in punycode (xn--…)");
}

// Checked here because libcurl also accepts one or three slashes.
void check_slashes(std::string_view url) {
  const auto slashes = url.find("://");
  if (slashes == std::string_view::npos || url.substr(slashes + 3).starts_with('/'))
    refuse_url("write https://host/path");
}

// Parsed by libcurl, so that the URL that is checked is the one that is called.
Parsed parse(std::string_view url) {
  Parsed parsed{curl_url(), curl_url_cleanup};
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, std::string{url}.c_str(), 0);
  if (code == CURLUE_UNSUPPORTED_SCHEME) refuse_url("it begins with neither http:// nor https://");
  if (code != CURLUE_OK) refuse_url(std::string{curl_url_strerror(code)} + "; write https://host/path");
  return parsed;
}

std::optional<std::string> part(const Parsed& parsed, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(parsed.get(), which, &text, flags) != CURLUE_OK) return std::nullopt;
  const std::unique_ptr<char, decltype(&curl_free)> owner{text, curl_free};
  return std::string{text};
}

bool is_tls(const Parsed& parsed) {
  const auto scheme = part(parsed, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") refuse_url("it begins with neither http:// nor https://");
  return scheme == "https";
}

void check_no_user(const Parsed& parsed) {
  if (part(parsed, CURLUPART_USER) || part(parsed, CURLUPART_PASSWORD)) {
    refuse_url("it contains a user or a password; receivers recognise us by the signature");
  }
  if (part(parsed, CURLUPART_ZONEID)) refuse_url("it names a network interface");
}

std::string host_of(const Parsed& parsed) {
  std::string host = lower_case(part(parsed, CURLUPART_HOST).value_or(""));
  if (!host.starts_with('[')) {
    if (!is_host_name(host)) refuse_url("it has no host that can be called");
    return host;
  }
  host = host.substr(1, host.size() - 2);
  if (!parse_address(host)) refuse_url("its host is not an IPv6 address");
  return host;
}

std::uint16_t port_of(const Parsed& parsed) {
  const std::string digits = part(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or("");
  std::uint16_t port = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (port == 0) refuse_url("its port must be from 1 to 65535");
  return port;
}

// https://h.example, https://h.example/, https://h.example/***
std::string shown(std::string_view url) {
  const auto end = std::min(url.find_first_of("/?#", url.find("://") + 3), url.size());
  const std::string_view rest = url.substr(end);
  return std::string{url.substr(0, end)}.append(rest.size() > 1 ? "/***" : rest);
}

}  // namespace

std::string Destination::server() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Destination parse_destination(std::string_view url) {
  check_characters(url);
  check_slashes(url);
  const Parsed parsed = parse(url);
  Destination destination{.tls = is_tls(parsed)};
  check_no_user(parsed);
  destination.host = host_of(parsed);
  destination.port = port_of(parsed);
  destination.address = parse_address(destination.host);
  destination.shown = shown(url);
  return destination;
}

}  // namespace easyretry::webhook
