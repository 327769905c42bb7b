#include "storage/open.h"

#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

#include "storage/memory/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/url.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

// One option of a url, read as what it should be.
struct Option {
  std::string_view url;
  std::string_view name;
  std::string_view value;

  int number(int least, int most) const {
    int parsed = 0;
    const char* end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, parsed);
    if (error == std::errc{} && stopped == end && parsed >= least && parsed <= most) return parsed;
    std::string wanted = "a whole number from " + std::to_string(least);
    if (most < std::numeric_limits<int>::max()) wanted += " to " + std::to_string(most);
    throw std::invalid_argument("option " + std::string{name} + " in " + std::string{url} + " must be " + wanted +
                                ", not \"" + std::string{value} + "\"");
  }

  bool full_sync() const {
    if (value == "full") return true;
    if (value == "normal") return false;
    refuse_word("value of synchronous", value, url, {"full", "normal"});
  }

  bool yes() const {
    if (value == "yes") return true;
    if (value == "no") return false;
    refuse_word("value of " + std::string{name}, value, url, {"yes", "no"});
  }

  History history() const {
    if (const auto known = parse_history(value)) return *known;
    refuse_word("value of history", value, url, {"none", "failures", "all"});
  }

  int shards() const { return number(1, task::kMaxShards); }
};

std::unique_ptr<Store> open_memory(const StoreUrl& address, std::string_view url, const Clock& clock) {
  if (!address.path.empty() && address.path != "//") {
    throw std::invalid_argument("a memory store has no path: write memory: instead of " + std::string{url});
  }
  MemoryStoreOptions options;
  for (const auto& [name, value] : address.options) {
    const Option option{url, name, value};
    if (name == "history") {
      options.history = option.history();
    } else if (name == "shards") {
      options.total_shards = option.shards();
    } else {
      refuse_word("option", name, url, {"history", "shards"});
    }
  }
  return std::make_unique<MemoryStore>(options, clock);
}

void set(SqliteOptions& options, const Option& option) {
  if (option.name == "synchronous") {
    options.full_sync = option.full_sync();
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

std::unique_ptr<Store> open_sqlite_url(const StoreUrl& address, std::string_view url, const Clock& clock) {
  if (address.path.empty()) {
    throw std::invalid_argument("no path in " + std::string{url} + "; write sqlite:path, such as sqlite:retry.db");
  }
  if (address.path.starts_with("//") && !address.path.starts_with("///")) {
    throw std::invalid_argument(
        std::string{url} + " names a host, and SQLite has none; did you mean sqlite:" + address.path.substr(2) + "?");
  }
  SqliteOptions options;
  options.path = address.path;
  for (const auto& [name, value] : address.options) set(options, {url, name, value});
  return open_sqlite(options, clock);
}

}  // namespace

std::unique_ptr<Store> open_store(std::string_view url, const Clock& clock) {
  const StoreUrl address = parse_store_url(url);
  if (address.scheme == "memory") return open_memory(address, url, clock);
  if (address.scheme == "sqlite") return open_sqlite_url(address, url, clock);
  refuse_word("scheme", address.scheme, url, {"memory", "sqlite"});
}

}  // namespace easyretry::storage
