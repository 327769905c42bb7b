#include "storage/server/server_address.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "base/split.h"
#include "storage/server/password_command.h"
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

const std::string* value_of(std::string_view option, const StoreUrl& parsed) {
  const auto found = std::ranges::find(parsed.options, option, &std::pair<std::string, std::string>::first);
  return found == parsed.options.end() ? nullptr : &found->second;
}

// The program by its full path: which one a PATH or a current folder means may depend on others.
Password password_of_command(std::string_view text, std::string_view url) {
  std::vector<std::string> words;
  for (const std::string_view word : base::split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (words.empty() || !words.front().starts_with('/')) {
    refuse(url, "password_command needs the full path of a program, and %20 before each argument");
  }
  return Password::printed_by(std::move(words));
}

Password password_of(std::string_view text, const StoreUrl& parsed, std::string_view url) {
  const std::string* const file = value_of(kPasswordFile, parsed);
  const std::string* const command = value_of(kPasswordCommand, parsed);
  if (file != nullptr && command != nullptr)
    refuse(url, "a password_file and a password_command; leave one of them out");
  if (file == nullptr && command == nullptr) return decoded(text, url);
  const std::string_view option = file != nullptr ? kPasswordFile : kPasswordCommand;
  if (!text.empty()) refuse(url, "a password and a " + std::string{option} + "; leave one of them out");
  if (file != nullptr) return Password::in(decoded(*file, url));
  return password_of_command(decoded(*command, url), url);
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
  const std::string_view who = at == std::string_view::npos ? "" : authority.substr(0, at);
  const auto colon = who.find(':');
  address.user = decoded(who.substr(0, colon), url);
  address.password = password_of(colon == std::string_view::npos ? "" : who.substr(colon + 1), parsed, url);
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

bool is_of_address(std::string_view option) {
  return option == kPasswordFile || option == kPasswordCommand;
}

Password Password::in(std::filesystem::path file) {
  Password password;
  password.file_ = std::move(file);
  return password;
}

Password Password::printed_by(std::vector<std::string> command) {
  Password password;
  password.command_ = std::move(command);
  return password;
}

std::string Password::current() const {
  if (!command_.empty()) return first_line_of(command_);
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
