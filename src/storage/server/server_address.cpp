#include "storage/server/server_address.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "base/split.h"
#include "storage/server/server_error.h"

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
    // Not quoted: it may be a part of a password.
    refuse(url, "the port must be 1 to 65535; write a / in a password as %2F");
  }
  return port;
}

Password password_of(std::string_view text, const StoreUrl& parsed, std::string_view url) {
  const auto file = std::ranges::find(parsed.options, kPasswordFile, &std::pair<std::string, std::string>::first);
  if (file == parsed.options.end()) return decoded(text, url);
  if (!text.empty()) refuse(url, "a password and a password_file; leave one of them out");
  return Password::in(decoded(file->second, url));
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
    const std::string_view password = colon == std::string_view::npos ? "" : who.substr(colon + 1);
    address.password = password_of(password, parsed, url);
  }
  parse_host(at == std::string_view::npos ? authority : authority.substr(at + 1), url, address);
  return address;
}

std::vector<ServerAddress> parse_server_addresses(const StoreUrl& parsed, std::string_view url) {
  const auto slash = std::min(parsed.path.find('/', 2), parsed.path.size());
  const auto at = parsed.path.rfind('@', slash);
  const auto from = at == std::string::npos ? std::min<std::size_t>(2, slash) : at + 1;
  std::vector<ServerAddress> servers;
  for (const std::string_view host : base::split(std::string_view{parsed.path}.substr(from, slash - from), ',')) {
    StoreUrl one = parsed;
    one.path = parsed.path.substr(0, from) + std::string{host} + parsed.path.substr(slash);
    servers.push_back(parse_server_address(one, url));
  }
  return servers;
}

Password Password::in(std::filesystem::path file) {
  Password password;
  password.file_ = std::move(file);
  return password;
}

std::string Password::current() const {
  if (file_.empty()) return text_;
  std::ifstream in{file_};
  std::string line;
  if (!std::getline(in, line)) {
    throw ServerError{Trouble::refused, "the password_file " + file_.string() + " cannot be read, or is empty"};
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace easyretry::storage::server
