#include "storage/redis/set_up.h"

#include <algorithm>
#include <charconv>

#include <easyretry/error.h>

#include "base/random.h"
#include "storage/redis/record_layout.h"

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;
namespace StoreField = layout::StoreField;

constexpr int kOldestMajor = 7;

// Empty if the user has no right to ask.
std::string appendfsync(const Ask& ask) {
  try {
    return std::string{ask(Command::of("CONFIG", "GET", "appendfsync")).text(1)};
  } catch (const ServerError& error) {
    if (error.trouble() != Trouble::refused) throw;
    return {};
  }
}

// The words for a server with an append-only file.
std::string by_sync(const std::string& sync) {
  constexpr std::string_view kProcess = "a crash of the server process, except for its last moments; appendfsync=";
  if (sync == "always") return "a power cut on the server's machine";
  if (sync == "no") return std::string{kProcess} + "no, so a power cut may lose the last half minute";
  return std::string{kProcess} + (sync.empty() ? "unknown" : sync) + ", so a power cut may lose the last two seconds";
}

// Asks for settings that INFO does not report.
Durability durability(const Ask& ask, const ServerFacts& facts, const Confirmation& confirmation) {
  Durability durability;
  if (facts.of("aof_enabled") == "1") {
    durability.words = by_sync(appendfsync(ask));
  } else {
    durability = {
        "nothing for sure; without appendonly=yes a restart of the server loses what came after its last "
        "snapshot",
        true};
  }
  if (confirmation.replicas > 0) {
    durability.words += "; " + std::to_string(confirmation.replicas) + " replica(s) have it in memory by then";
  } else if (facts.of("connected_slaves") != "0") {
    durability.words += "; a failover may lose what replicas do not have yet (wait=1 waits for one)";
  }
  return durability;
}

std::string layout_for(bool cluster) {
  return std::to_string(kLayoutVersion) + (cluster ? "-cluster" : "");
}

void refuse_wrong_role(const ServerFacts& facts, bool cluster) {
  if (!cluster && facts.is_in_a_cluster()) throw server_error("CLUSTER mode");
  if (facts.of("role") == "slave") throw server_error("READONLY");
  if (facts.of("loading") == "1") throw server_error("LOADING");
}

std::string agree(const Ask& ask, const std::string& key, std::string_view field, const std::string& mine) {
  ask(Command::of("HSETNX", std::string_view{key}, field, std::string_view{mine}));
  return std::string{ask(Command::of("HGET", std::string_view{key}, field)).text()};
}

std::optional<std::string> stored_field(const Keys& keys, const Ask& ask, std::string_view field) {
  const std::string key = keys.store();
  const Reply reply = ask(Command::of("HGET", std::string_view{key}, field));
  if (reply.text().empty()) return std::nullopt;
  return std::string{reply.text()};
}

std::string random_name() {
  base::Random random{base::random_seed()};
  return std::to_string(random.next());
}

[[noreturn]] void refuse(const std::string& why) {
  throw StoreError{{Errc::invalid_argument, "redis.open", why}};
}

// So far there is one version, so an older one is corrupted or manually edited.
[[noreturn]] void refuse_version(const std::string& stored, const std::string& prefix) {
  int version = 0;
  std::from_chars(stored.data(), stored.data() + stored.size(), version);
  const std::string mine = std::to_string(kLayoutVersion);
  const std::string store = "the store {" + prefix + "} has layout " + stored;
  if (version > kLayoutVersion) {
    refuse(store + ", made by a newer release; this one knows " + mine +
           "; install that release here, too (`easyretry --version` prints the one you have), or use another prefix=");
  }
  refuse(store + ", which no release makes; this one knows " + mine +
         ". Restore it from a backup, or use another prefix=");
}

void check_layout(const std::string& layout, const RedisOptions& options) {
  if (layout == layout_for(options.is_cluster())) return;
  if (layout == layout_for(!options.is_cluster())) {
    refuse("the store {" + options.prefix + "} was created for " +
           (options.is_cluster() ? "one server; use redis://" : "a cluster; use redis+cluster://") +
           ", or another prefix=");
  }
  refuse_version(layout, options.prefix);
}

// Agrees on a setting that is fixed when the store is created.
void agree_on_number(const Ask& ask, const std::string& key, std::string_view field, int mine,
                     const std::string& prefix) {
  const std::string name{field};
  const std::string made_with = agree(ask, key, field, std::to_string(mine));
  if (made_with == std::to_string(mine)) return;
  refuse("the store {" + prefix + "} was created with " + name + "=" + made_with +
         ", but this instance is configured with " + name + "=" + std::to_string(mine) + "; set " + name + "=" +
         made_with + " in its url, or use another prefix=");
}

}  // namespace

ServerFacts::ServerFacts(const Ask& ask) {
  const Reply reply = ask(Command::of("INFO"));
  std::string_view text = reply.text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(std::min(line.size() + 2, text.size()));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) facts_.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
}

std::string ServerFacts::of(std::string_view name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? std::string{} : found->second;
}

void ServerFacts::refuse_unfit() const {
  const std::string version = of("redis_version");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < kOldestMajor) {
    throw ServerError{Trouble::refused, "the server is Redis " + version + "; EasyRetry needs 7.0 or newer"};
  }
  const std::string policy = of("maxmemory_policy");
  if (policy != "noeviction") {
    throw ServerError{Trouble::refused, "the server may evict stored tasks when its memory is full (maxmemory-policy " +
                                            policy + "); CONFIG SET maxmemory-policy noeviction"};
  }
}

Opened set_up(const Keys& keys, const Ask& ask, const RedisOptions& options) {
  const std::string key = keys.store();
  // This command follows a slot that has moved. INFO does not: any server answers it.
  if (options.is_cluster()) ask(Command::of("EXISTS", std::string_view{key}));
  const ServerFacts facts{ask};
  facts.refuse_unfit();
  refuse_wrong_role(facts, options.is_cluster());
  check_layout(agree(ask, key, StoreField::layout, layout_for(options.is_cluster())), options);
  agree_on_number(ask, key, StoreField::shards, options.total_shards, options.prefix);
  if (options.is_cluster()) agree_on_number(ask, key, StoreField::tags, options.tags, options.prefix);
  return {agree(ask, key, StoreField::incarnation, random_name()), durability(ask, facts, options.confirmation)};
}

std::optional<std::string> stored_shards(const Keys& keys, const Ask& ask) {
  return stored_field(keys, ask, StoreField::shards);
}

// An accepted layout has this release's version.
std::optional<int> stored_version(const Keys& keys, const Ask& ask, const RedisOptions& options) {
  const auto layout = stored_field(keys, ask, StoreField::layout);
  if (!layout) return std::nullopt;
  check_layout(*layout, options);
  return kLayoutVersion;
}

}  // namespace easyretry::storage::redis
