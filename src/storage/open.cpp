#include "storage/open.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "storage/memory/memory_store.h"
#include "storage/mysql/address.h"
#include "storage/postgres/open_postgres.h"
#include "storage/redis/redis_store.h"
#include "storage/sql/migration.h"
#include "storage/sql/reshard_server.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/url.h"

namespace easyretry::storage {
namespace {

bool full_sync(const UrlOption& option) {
  if (option.value == "full") return true;
  if (option.value == "normal") return false;
  refuse_word("value of synchronous", option.value, option.url, {"full", "normal"});
}

MemoryStoreOptions memory_options(const StoreUrl& address, std::string_view url) {
  if (!address.path.empty() && address.path != "//") {
    throw std::invalid_argument("a memory store has no path: write memory: instead of " + std::string{url});
  }
  MemoryStoreOptions options;
  for (const auto& [name, value] : address.options) {
    const UrlOption option{url, name, value};
    if (name == "history") {
      options.history = option.history();
    } else if (name == "shards") {
      options.total_shards = option.shards();
    } else {
      refuse_word("option", name, url, {"history", "shards"});
    }
  }
  return options;
}

void set(SqliteOptions& options, const UrlOption& option) {
  if (option.name == "synchronous") {
    options.full_sync = full_sync(option);
  } else if (option.name == "history") {
    options.history = option.history();
  } else if (option.name == "keep_months") {
    options.keep_months = option.number(1, std::numeric_limits<int>::max());
  } else if (option.name == "shards") {
    options.total_shards = option.shards();
  } else if (option.name == "shared") {
    options.shared = option.yes();
  } else {
    refuse_word("option", option.name, option.url, {"synchronous", "history", "keep_months", "shards", "shared"});
  }
}

SqliteOptions sqlite_options(const StoreUrl& address, std::string_view url) {
  if (address.path.empty()) {
    throw std::invalid_argument("no path in " + std::string{url} + "; write sqlite:path, such as sqlite:retry.db");
  }
  if (address.path.starts_with("//") && !address.path.starts_with("///")) {
    throw std::invalid_argument(
        std::string{url} + " names a host, but SQLite has none; did you mean sqlite:" + address.path.substr(2) + "?");
  }
  SqliteOptions options;
  options.path = address.path;
  for (const auto& [name, value] : address.options) set(options, {url, name, value});
  return options;
}

sql::ServerOptions server_options(const StoreUrl& address, std::string_view url) {
  if (address.scheme == "postgres" || address.scheme == "postgresql") return postgres_options(address, url);
  if (address.scheme == "mysql" || address.scheme == "mariadb") return mysql_options(address, url);
  refuse_word("scheme", address.scheme, url, {"memory", "sqlite", "postgres", "mysql", "redis"});
}

// redis, redis+cluster, and what is alike and not available: rediss.
bool is_redis(const StoreUrl& address) {
  return address.scheme.starts_with("redis");
}

}  // namespace

std::unique_ptr<Store> open_store(std::string_view url, const Clock& clock) {
  const StoreUrl address = parse_store_url(url);
  if (address.scheme == "memory") return std::make_unique<MemoryStore>(memory_options(address, url), clock);
  if (address.scheme == "sqlite") return open_sqlite(sqlite_options(address, url), clock);
  if (is_redis(address)) return open_redis(redis_options(address, url));
  return sql::open_server_store(server_options(address, url));
}

void validate_store_url(std::string_view url) {
  const StoreUrl address = parse_store_url(url);
  if (address.scheme == "memory") {
    memory_options(address, url);
  } else if (address.scheme == "sqlite") {
    sqlite_options(address, url);
  } else if (is_redis(address)) {
    redis_options(address, url);
  } else {
    sql::validate(server_options(address, url));
  }
}

bool may_be_shared(std::string_view url) {
  const StoreUrl address = parse_store_url(url);
  return address.scheme != "memory" && address.scheme != "sqlite";
}

std::optional<StoredSettings> stored_settings(std::string_view url) {
  const StoreUrl address = parse_store_url(url);
  if (address.scheme == "memory") return StoredSettings{};  // each one is made by opening it
  if (address.scheme == "sqlite") return sqlite_settings(sqlite_options(address, url));
  if (is_redis(address)) return redis_settings(redis_options(address, url));
  return sql::server_settings(server_options(address, url));
}

ReshardPlan reshard_store(std::string_view url, const ReshardRequest& request) {
  const StoreUrl address = parse_store_url(url);
  if (address.scheme == "memory") {
    throw std::invalid_argument("a memory store is new each time: open it with the new number, memory:?shards=" +
                                std::to_string(request.shards));
  }
  if (address.scheme == "sqlite") return reshard_sqlite(sqlite_options(address, url), request);
  if (is_redis(address)) {
    throw std::invalid_argument(
        "a store in Redis keeps its number of shards: let its tasks end, then start with shards=" +
        std::to_string(request.shards) + " and another prefix=");
  }
  return sql::reshard_server(server_options(address, url), request);
}

MigrationPlan migrate_store(std::string_view url, const Clock& clock, const MigrateRequest& request) {
  const StoreUrl address = parse_store_url(url);
  if (address.scheme == "memory")
    throw std::invalid_argument("a memory store is new each time, and needs no migration");
  if (address.scheme == "sqlite") return migrate_sqlite(sqlite_options(address, url), clock, request);
  if (is_redis(address)) return migrate_redis(redis_options(address, url), request);
  return sql::migrate_server(server_options(address, url), request);
}

}  // namespace easyretry::storage
