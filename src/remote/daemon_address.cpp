#include "remote/daemon_address.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <arpa/inet.h>
#include <curl/curl.h>

namespace easyretry::remote {
namespace {

using Parsed = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part_of(const Parsed& address, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(address.get(), part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner{text, curl_free};
  return text;
}

// A name that begins with 127. may be anybody's.
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
                                "\" is no address of a daemon; write it as http://127.0.0.1:7077 or "
                                "https://retry.example:7077");
  }
  if (scheme == "http" && !is_loopback(part_of(parsed, CURLUPART_HOST))) {
    throw std::invalid_argument("\"" + url +
                                "\" is on another machine, and the token must not be sent in the open; use https://, "
                                "or a tunnel to 127.0.0.1");
  }
}

}  // namespace

DaemonAddress checked(DaemonAddress address) {
  check_url(address.url);
  while (address.url.ends_with('/')) address.url.pop_back();
  // A header ends with its line.
  if ((address.token + address.space).find_first_of("\r\n") != std::string::npos) {
    throw std::invalid_argument("a token and a namespace are one line each");
  }
  return address;
}

void require_ca_file(const std::string& file) {
  if (file.empty() || std::ifstream{file}.peek() != std::ifstream::traits_type::eof()) return;
  throw std::invalid_argument("ca_file " + file +
                              " cannot be read; it has to be the certificate, in PEM, of whoever vouches for the "
                              "daemon's");
}

std::string read_token(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::string token;
  if (in >> token) return token;
  throw std::invalid_argument("there is no token in " + file.string() +
                              "; it has to be a readable file that begins with one, \"er_…\"");
}

}  // namespace easyretry::remote
