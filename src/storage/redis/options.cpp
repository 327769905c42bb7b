#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <stdexcept>

#include "storage/backend.h"
#include "storage/redis/redis_store.h"
#include "storage/server/server_address.h"
#include "storage/url.h"

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view url, const std::string& why) {
  throw std::invalid_argument("store url \"" + without_password(url) + "\": " + why);
}

int database_of(const std::string& text, std::string_view url) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) {
    refuse(url, "a Redis database is a number, not \"" + text + "\"; write redis://host:6379/0");
  }
  return number;
}

redis::Address address_of(StoreUrl parsed, int usual_port, std::string_view url) {
  if (parsed.path.starts_with("//")) {
    const auto slash = parsed.path.find('/', 2);
    if (slash == std::string::npos) parsed.path += "/0";
    if (slash + 1 == parsed.path.size()) parsed.path += "0";
  }
  server::ServerAddress server = server::parse_server_address(parsed, url);
  redis::Address address;
  address.host = std::move(server.host);
  address.port = server.port != 0 ? server.port : usual_port;
  address.user = std::move(server.user);
  address.password = std::move(server.password);
  address.database = database_of(server.database, url);
  return address;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> words;
  while (true) {
    const auto end = text.find(at);
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

struct Hosts {
  std::vector<redis::Endpoint> endpoints;
  redis::Address like;  // the last one
  std::string after;    // what follows the slash
};

// //user:password@host:port,host:port/after: each host is parsed as if it were the only one.
Hosts parse_hosts(const StoreUrl& parsed, int usual_port, std::string_view url) {
  const auto slash = std::min(parsed.path.find('/', 2), parsed.path.size());
  const std::string authority = parsed.path.substr(0, slash);
  const auto at = authority.rfind('@');
  const auto hosts_from = at == std::string::npos ? std::min<std::size_t>(2, authority.size()) : at + 1;
  Hosts hosts;
  for (const std::string& host : split(authority.substr(hosts_from), ',')) {
    StoreUrl one = parsed;
    one.path = authority.substr(0, hosts_from) + host + "/0";
    hosts.like = address_of(std::move(one), usual_port, url);
    hosts.endpoints.push_back(hosts.like.endpoint());
  }
  hosts.after = parsed.path.substr(std::min(slash + 1, parsed.path.size()));
  return hosts;
}

void set_cluster(RedisOptions& options, const StoreUrl& parsed, std::string_view url) {
  Hosts hosts = parse_hosts(parsed, redis::Address{}.port, url);
  if (!hosts.after.empty() && hosts.after != "0") refuse(url, "a cluster has only database 0; leave the number out");
  options.address = std::move(hosts.like);
  options.nodes = std::move(hosts.endpoints);
}

void set_sentinels(RedisOptions& options, const StoreUrl& parsed, std::string_view url) {
  constexpr int kSentinelPort = 26'379;
  Hosts hosts = parse_hosts(parsed, kSentinelPort, url);
  if (hosts.after.empty()) refuse(url, "no service; write redis+sentinel://host:26379,host:26379/service");
  options.address = std::move(hosts.like);
  options.sentinels = std::move(hosts.endpoints);
  options.service = std::move(hosts.after);
}

// While a caller waits for one server, another may have taken over, or other servers wait with it.
void limit_patience(RedisOptions& options) {
  options.address.connect_timeout = std::chrono::seconds{2};
  options.address.patience = std::chrono::seconds{3 + options.confirmation.patience_ms / 1000};
}

// Braces would be read as a hash tag; blanks and stars make keys hard to use in redis-cli.
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
  } else if (option.name == "tags" && options.is_cluster()) {
    options.tags = option.number(1, 1024);
  } else if (option.name == "connections") {
    options.connections = static_cast<std::size_t>(option.number(1, 1000));
  } else if (option.name == "wait") {
    options.confirmation.replicas = option.number(0, 100);
  } else if (option.name == "wait_ms") {
    options.confirmation.patience_ms = option.number(1, 5000);
  } else if (!server::is_of_address(option.name)) {  // which is read with the address
    refuse_word("option", option.name, option.url,
                {"prefix", "history", "keep_months", "history_limit", "shards", "tags", "connections", "wait",
                 "wait_ms", server::kPasswordFile, server::kPasswordCommand});
  }
}

}  // namespace

RedisOptions redis_options(const StoreUrl& address, std::string_view url) {
  if (address.scheme.starts_with("rediss")) {
    refuse(url,
           "TLS is not available for Redis (hiredis of Debian 12 has none); use redis:// through an encrypted tunnel, "
           "such as stunnel: docs/redis.md#encrypted-connections");
  }
  RedisOptions options;
  if (address.scheme == "redis") {
    options.address = address_of(address, redis::Address{}.port, url);
  } else if (address.scheme == "redis+cluster") {
    set_cluster(options, address, url);
  } else if (address.scheme == "redis+sentinel") {
    set_sentinels(options, address, url);
  } else {
    refuse(url,
           "use redis:// for one server, redis+cluster://host:port,host:port for a cluster, or "
           "redis+sentinel://host:port,host:port/service");
  }
  options.url = without_password(url);
  for (const auto& [name, value] : address.options) set(options, {url, name, value});
  if (address.scheme != "redis") limit_patience(options);
  return options;
}

const Backend* easyretry_redis_backend() {
  static constexpr Backend kBackend{
      .may_be_shared = true,
      .open = [](const StoreUrl& address, std::string_view url,
                 const Clock&) { return open_redis(redis_options(address, url)); },
      .validate = [](const StoreUrl& address, std::string_view url) { redis_options(address, url); },
      .settings = [](const StoreUrl& address,
                     std::string_view url) { return redis_settings(redis_options(address, url)); },
      .reshard = [](const StoreUrl&, std::string_view, const ReshardRequest& request) -> ReshardPlan {
        throw std::invalid_argument(
            "a store in Redis keeps its number of shards: let its tasks end, then start with shards=" +
            std::to_string(request.shards) + " and another prefix=");
      },
      .migrate = [](const StoreUrl& address, std::string_view url, const Clock&,
                    const MigrateRequest& request) { return migrate_redis(redis_options(address, url), request); },
  };
  return &kBackend;
}

}  // namespace easyretry::storage
