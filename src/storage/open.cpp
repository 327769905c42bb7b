#include "storage/open.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "storage/backend.h"
#include "storage/memory/memory_store.h"
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

constexpr Backend kMemory{
    .may_be_shared = false,
    .open = [](const StoreUrl& address, std::string_view url, const Clock& clock) -> std::unique_ptr<Store> {
      return std::make_unique<MemoryStore>(memory_options(address, url), clock);
    },
    .validate = [](const StoreUrl& address, std::string_view url) { memory_options(address, url); },
    .settings = [](const StoreUrl&,
                   std::string_view) { return std::optional{StoredSettings{}}; },  // opening creates it
    .reshard = [](const StoreUrl&, std::string_view, const ReshardRequest& request) -> ReshardPlan {
      throw std::invalid_argument("a memory store is new each time: open it with the new number, memory:?shards=" +
                                  std::to_string(request.shards));
    },
    .migrate = [](const StoreUrl&, std::string_view, const Clock&, const MigrateRequest&) -> MigrationPlan {
      throw std::invalid_argument("a memory store is new each time, and needs no migration");
    },
};

constexpr Backend kSqlite{
    .may_be_shared = false,
    .open = [](const StoreUrl& address, std::string_view url,
               const Clock& clock) { return open_sqlite(sqlite_options(address, url), clock); },
    .validate = [](const StoreUrl& address, std::string_view url) { sqlite_options(address, url); },
    .settings = [](const StoreUrl& address,
                   std::string_view url) { return sqlite_settings(sqlite_options(address, url)); },
    .reshard = [](const StoreUrl& address, std::string_view url,
                  const ReshardRequest& request) { return reshard_sqlite(sqlite_options(address, url), request); },
    .migrate =
        [](const StoreUrl& address, std::string_view url, const Clock& clock, const MigrateRequest& request) {
          return migrate_sqlite(sqlite_options(address, url), clock, request);
        },
};

const Backend& part(const Backend* (*backend)(), std::string_view what, std::string_view name, std::string_view url) {
  if (backend != nullptr) return *backend();
  throw std::invalid_argument(without_password(url) + ": " + base::missing_part(what, name));
}

const Backend& backend_of(const StoreUrl& address, std::string_view url) {
  const std::string_view scheme = address.scheme;
  if (scheme == "memory") return kMemory;
  if (scheme == "sqlite") return kSqlite;
  if (scheme == "postgres" || scheme == "postgresql") {
    return part(easyretry_postgres_backend, "PostgreSQL", "postgres", url);
  }
  if (scheme == "mysql" || scheme == "mariadb") return part(easyretry_mysql_backend, "MariaDB and MySQL", "mysql", url);
  // redis, redis+cluster, redis+sentinel, and rediss, which redis_options() refuses
  if (scheme.starts_with("redis")) return part(easyretry_redis_backend, "Redis", "redis", url);
  refuse_word("scheme", scheme, url, {"memory", "sqlite", "postgres", "mysql", "redis"});
}

}  // namespace

std::unique_ptr<Store> open_store(std::string_view url, const Clock& clock) {
  const StoreUrl address = parse_store_url(url);
  return backend_of(address, url).open(address, url, clock);
}

void validate_store_url(std::string_view url) {
  const StoreUrl address = parse_store_url(url);
  backend_of(address, url).validate(address, url);
}

bool may_be_shared(std::string_view url) {
  return backend_of(parse_store_url(url), url).may_be_shared;
}

std::optional<StoredSettings> stored_settings(std::string_view url) {
  const StoreUrl address = parse_store_url(url);
  return backend_of(address, url).settings(address, url);
}

ReshardPlan reshard_store(std::string_view url, const ReshardRequest& request) {
  const StoreUrl address = parse_store_url(url);
  return backend_of(address, url).reshard(address, url, request);
}

MigrationPlan migrate_store(std::string_view url, const Clock& clock, const MigrateRequest& request) {
  const StoreUrl address = parse_store_url(url);
  return backend_of(address, url).migrate(address, url, clock, request);
}

}  // namespace easyretry::storage
