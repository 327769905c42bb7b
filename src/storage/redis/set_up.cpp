#include "storage/redis/set_up.h"

#include <charconv>

#include <easyretry/error.h>

#include "base/random.h"
#include "storage/redis/keys.h"
#include "storage/redis/record_layout.h"
#include "storage/redis/server_facts.h"
#include "storage/shard_count.h"

namespace easyretry::storage::redis {
namespace {

namespace StoreField = layout::StoreField;

// The version of record_layout.def, which other releases compare.
constexpr int kVersion = 1;
constexpr std::string_view kLayout = "1";
constexpr std::string_view kClusterLayout = "1-cluster";

void refuse_wrong_role(const ServerFacts& facts, bool cluster) {
  if (!cluster && facts.is_in_a_cluster()) throw server_error("CLUSTER mode");
  if (facts.of("role") == "slave") throw server_error("READONLY");
  if (facts.of("loading") == "1") throw server_error("LOADING");
}

std::string agree(const Ask& ask, const std::string& key, std::string_view field, const std::string& mine) {
  ask(Command::of("HSETNX", std::string_view{key}, field, std::string_view{mine}));
  return std::string{ask(Command::of("HGET", std::string_view{key}, field)).text()};
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
  const std::string mine = std::to_string(kVersion);
  const std::string store = "the store {" + prefix + "} has layout " + stored;
  if (version > kVersion) {
    refuse(store + ", made by a newer release; this one knows " + mine +
           "; install that release here, too (`easyretry --version` prints the one you have), or use another prefix=");
  }
  refuse(store + ", which no release makes; this one knows " + mine +
         ". Restore it from a backup, or use another prefix=");
}

void agree_on_layout(const Ask& ask, const std::string& key, const RedisOptions& options) {
  const std::string_view mine = options.is_cluster() ? kClusterLayout : kLayout;
  const std::string layout = agree(ask, key, StoreField::layout, std::string{mine});
  if (layout == mine) return;
  if (layout == kLayout || layout == kClusterLayout) {
    refuse("the store {" + options.prefix + "} was created for " +
           (options.is_cluster() ? "one server; use redis://" : "a cluster; use redis+cluster://") +
           ", or another prefix=");
  }
  refuse_version(layout, options.prefix);
}

// For settings that are fixed when the store is created.
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

Opened set_up(const Keys& keys, const Ask& ask, const RedisOptions& options) {
  const std::string key = keys.store();
  // This command follows a slot that has moved. INFO does not: any server answers it.
  if (options.is_cluster()) ask(Command::of("EXISTS", std::string_view{key}));
  const ServerFacts facts{ask};
  facts.refuse_unfit();
  refuse_wrong_role(facts, options.is_cluster());
  agree_on_layout(ask, key, options);
  agree_on_number(ask, key, StoreField::shards, options.total_shards, options.prefix);
  if (options.is_cluster()) agree_on_number(ask, key, StoreField::tags, options.tags, options.prefix);
  return {agree(ask, key, StoreField::incarnation, random_name()), durability(ask, facts, options.confirmation)};
}

std::optional<std::string> stored_shards(const Keys& keys, const Ask& ask) {
  const std::string key = keys.store();
  const Reply reply = ask(Command::of("HGET", std::string_view{key}, StoreField::shards));
  if (reply.text().empty()) return std::nullopt;
  return std::string{reply.text()};
}

}  // namespace easyretry::storage::redis
