#include "storage/redis/set_up.h"

#include <charconv>
#include <map>

#include <easyretry/error.h>

#include "base/random.h"
#include "storage/redis/keys.h"
#include "storage/shard_count.h"

namespace easyretry::storage::redis {
namespace {

using sql::ServerError;
using sql::Trouble;

constexpr std::string_view kLayout = "1";
constexpr std::string_view kClusterLayout = "1-cluster";
constexpr int kOldestMajor = 7;

using Facts = std::map<std::string, std::string, std::less<>>;

Facts facts_of(const Ask& ask) {
  const Reply reply = ask(Command::of("INFO"));
  Facts facts;
  std::string_view text = reply.text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(std::min(line.size() + 2, text.size()));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos) facts.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return facts;
}

std::string fact(const Facts& facts, std::string_view name) {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string{} : found->second;
}

void check_server(const Facts& facts, bool cluster) {
  const std::string version = fact(facts, "redis_version");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < kOldestMajor) {
    throw ServerError{Trouble::refused, "the server is Redis " + version + "; EasyRetry needs 7.0 or newer"};
  }
  if (!cluster && fact(facts, "redis_mode") == "cluster") throw server_error("CLUSTER mode");
  if (fact(facts, "role") == "slave") throw server_error("READONLY");
  if (fact(facts, "loading") == "1") throw server_error("LOADING");
  const std::string policy = fact(facts, "maxmemory_policy");
  if (policy != "noeviction") {
    throw ServerError{Trouble::refused, "the server may throw tasks away when its memory is full (maxmemory-policy " +
                                            policy + "); CONFIG SET maxmemory-policy noeviction"};
  }
}

// Not everybody may ask.
std::string appendfsync(const Ask& ask) {
  try {
    return std::string{ask(Command::of("CONFIG", "GET", "appendfsync")).text(1)};
  } catch (const ServerError& error) {
    if (error.trouble() != Trouble::refused) throw;
    return {};
  }
}

std::string durability(const Ask& ask, const Facts& facts, const Confirmation& confirmation) {
  std::string words;
  if (fact(facts, "aof_enabled") != "1") {
    words = "nothing for sure; without appendonly=yes a restart of the server loses what came after its last snapshot";
  } else if (const std::string sync = appendfsync(ask); sync == "always") {
    words = "the server's machine losing power";
  } else {
    words = "the server process failing, but for its last moments; appendfsync=" + (sync.empty() ? "unknown" : sync) +
            ", so a power cut may take the last two seconds";
  }
  if (confirmation.replicas > 0) {
    words += "; " + std::to_string(confirmation.replicas) + " replica(s) have it in memory by then";
  } else if (fact(facts, "connected_slaves") != "0") {
    words += "; a failover may lose what replicas have not yet (wait=1 waits for one)";
  }
  return words;
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

void agree_on_layout(const Ask& ask, const std::string& key, const RedisOptions& options) {
  const std::string_view mine = options.is_cluster() ? kClusterLayout : kLayout;
  const std::string layout = agree(ask, key, "layout", std::string{mine});
  if (layout == mine) return;
  if (layout == kLayout || layout == kClusterLayout) {
    refuse("the store {" + options.prefix + "} was made for " +
           (options.is_cluster() ? "one server; use redis://" : "a cluster; use redis+cluster://") +
           ", or another prefix=");
  }
  refuse("the store {" + options.prefix + "} has layout " + layout + " of another release; this one knows " +
         std::string{mine} + ". Use that release, or another prefix=");
}

// What was fixed when the store was made.
void agree_on_number(const Ask& ask, const std::string& key, const std::string& name, int mine,
                     const std::string& prefix) {
  const std::string made_with = agree(ask, key, name, std::to_string(mine));
  if (made_with == std::to_string(mine)) return;
  refuse("the store {" + prefix + "} was made with " + name + "=" + made_with + ", this instance is configured with " +
         name + "=" + std::to_string(mine) + "; set " + name + "=" + made_with + " in its url, or use another prefix=");
}

}  // namespace

Opened set_up(const Keys& keys, const Ask& ask, const RedisOptions& options) {
  const Facts facts = facts_of(ask);
  check_server(facts, options.is_cluster());
  const std::string key = keys.store();
  agree_on_layout(ask, key, options);
  agree_on_number(ask, key, "shards", options.total_shards, options.prefix);
  if (options.is_cluster()) agree_on_number(ask, key, "tags", options.tags, options.prefix);
  return {agree(ask, key, "incarnation", random_name()), durability(ask, facts, options.confirmation)};
}

std::optional<std::string> stored_shards(const Keys& keys, const Ask& ask) {
  const std::string key = keys.store();
  const Reply reply = ask(Command::of("HGET", std::string_view{key}, "shards"));
  if (reply.text().empty()) return std::nullopt;
  return std::string{reply.text()};
}

}  // namespace easyretry::storage::redis
