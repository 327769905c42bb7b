#include "storage/redis/open_redis.h"

#include <charconv>
#include <limits>
#include <stdexcept>

#include "storage/server_address.h"
#include "storage/url_option.h"

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view url, const std::string& why) {
  throw std::invalid_argument("store url \"" + without_password(url) + "\": " + why);
}

int database_of(const std::string& text, std::string_view url) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) {
    refuse(url, "a database of Redis is a number, not \"" + text + "\"; write redis://host:6379/0");
  }
  return number;
}

redis::Address address_of(StoreUrl parsed, std::string_view url) {
  if (parsed.path.starts_with("//")) {
    const auto slash = parsed.path.find('/', 2);
    if (slash == std::string::npos) parsed.path += "/0";
    if (slash + 1 == parsed.path.size()) parsed.path += "0";
  }
  ServerAddress server = parse_server_address(parsed, url);
  redis::Address address;
  address.host = std::move(server.host);
  if (server.port != 0) address.port = server.port;
  address.user = std::move(server.user);
  address.password = std::move(server.password);
  address.database = database_of(server.database, url);
  return address;
}

// Braces would be taken for a hash tag, and a space or a star is a nuisance to everybody.
std::string checked_prefix(std::string_view prefix, std::string_view url) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:";
  if (prefix.find_first_not_of(kAllowed) != std::string_view::npos) {
    refuse(url, "prefix=" + std::string{prefix} + ": letters, digits and . _ - : are allowed");
  }
  return std::string{prefix};
}

void set(RedisOptions& options, const UrlOption& option) {
  constexpr int kEndless = std::numeric_limits<int>::max();
  if (option.name == "prefix") {
    options.prefix = checked_prefix(option.value, option.url);
  } else if (option.name == "history") {
    options.history = option.history();
  } else if (option.name == "keep_months") {
    options.keep_months = option.number(1, 1200);
  } else if (option.name == "history_limit") {
    options.history_limit = option.number(1, kEndless);
  } else if (option.name == "shards") {
    options.total_shards = option.shards();
  } else if (option.name == "connections") {
    options.connections = static_cast<std::size_t>(option.number(1, 1000));
  } else if (option.name == "wait") {
    options.confirmation.replicas = option.number(0, 100);
  } else if (option.name == "wait_ms") {
    options.confirmation.patience_ms = option.number(1, 5000);
  } else {
    refuse_word("option", option.name, option.url,
                {"prefix", "history", "keep_months", "history_limit", "shards", "connections", "wait", "wait_ms"});
  }
}

}  // namespace

RedisOptions redis_options(const StoreUrl& address, std::string_view url) {
  if (address.scheme != "redis") {
    refuse(url, address.scheme == "rediss"
                    ? "TLS is not available for Redis; use redis:// through a tunnel that encrypts (stunnel, a sidecar)"
                    : "not available; use redis:// with one server");
  }
  RedisOptions options;
  options.address = address_of(address, url);
  options.url = without_password(url);
  for (const auto& [name, value] : address.options) set(options, {url, name, value});
  return options;
}

}  // namespace easyretry::storage
