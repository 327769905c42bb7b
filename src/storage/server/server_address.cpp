#include "storage/server/server_address.h"

#include <charconv>
#include <stdexcept>

namespace easyretry::storage::server {
namespace {

[[noreturn]] void refuse(std::string_view url, const std::string& why) {
  const std::string shown = without_password(url);
  throw std::invalid_argument("store url \"" + shown + "\": " + why + "; write " + shown.substr(0, shown.find(':')) +
                              "://user:password@host:port/database");
}

std::string decoded(std::string_view text, std::string_view url) try {
  return base::percent_decoded(text);
} catch (const std::invalid_argument& why) {
  refuse(url, why.what());
}

int parsed_port(std::string_view text, std::string_view url) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) {
    refuse(url, "the port must be 1 to 65535; write a / in a password as %2F");  // what is quoted here could be one
  }
  return port;
}

// host, host:port or [::1]:port
void parse_host(std::string_view text, std::string_view url, ServerAddress& address) {
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    const auto bracket = text.find(']');
    if (bracket == std::string_view::npos) refuse(url, "a [ without a ]");
    address.host = text.substr(1, bracket - 1);
    end = bracket + 1 == text.size() ? std::string_view::npos : bracket + 1;
  } else {
    address.host = decoded(text.substr(0, end), url);
  }
  if (end != std::string_view::npos) address.port = parsed_port(text.substr(end + 1), url);
  if (address.host.empty()) refuse(url, "no host");
}

}  // namespace

ServerAddress parse_server_address(const StoreUrl& parsed, std::string_view url) {
  std::string_view rest = parsed.path;
  if (!rest.starts_with("//")) refuse(url, "no host");
  rest.remove_prefix(2);
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos || slash + 1 == rest.size()) refuse(url, "no database");

  ServerAddress address;
  address.database = decoded(rest.substr(slash + 1), url);
  const std::string_view authority = rest.substr(0, slash);
  const auto at = authority.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view who = authority.substr(0, at);
    const auto colon = who.find(':');
    address.user = decoded(who.substr(0, colon), url);
    if (colon != std::string_view::npos) address.password = decoded(who.substr(colon + 1), url);
  }
  parse_host(at == std::string_view::npos ? authority : authority.substr(at + 1), url, address);
  return address;
}

}  // namespace easyretry::storage::server
