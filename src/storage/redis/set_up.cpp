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
constexpr int kOldestMajor = 7;

using Facts = std::map<std::string, std::string, std::less<>>;

Facts facts_of(Connection& connection) {
  const Reply reply = connection.run(Command::of("INFO"));
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

void check_server(const Facts& facts) {
  const std::string version = fact(facts, "redis_version");
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  if (major < kOldestMajor) {
    throw ServerError{Trouble::refused, "the server is Redis " + version + "; EasyRetry needs 7.0 or newer"};
  }
  if (fact(facts, "redis_mode") == "cluster") throw server_error("MOVED");
  if (fact(facts, "role") == "slave") throw server_error("READONLY");
  if (fact(facts, "loading") == "1") throw server_error("LOADING");
  const std::string policy = fact(facts, "maxmemory_policy");
  if (policy != "noeviction") {
    throw ServerError{Trouble::refused, "the server may throw tasks away when its memory is full (maxmemory-policy " +
                                            policy + "); CONFIG SET maxmemory-policy noeviction"};
  }
}

// Not everybody may ask.
std::string appendfsync(Connection& connection) {
  try {
    return std::string{connection.run(Command::of("CONFIG", "GET", "appendfsync")).text(1)};
  } catch (const LostReply&) {
    throw;
  } catch (const ServerError&) {
    return {};
  }
}

std::string durability(Connection& connection, const Facts& facts, const Confirmation& confirmation) {
  std::string words;
  if (fact(facts, "aof_enabled") != "1") {
    words = "nothing for sure; without appendonly=yes a restart of the server loses what came after its last snapshot";
  } else if (const std::string sync = appendfsync(connection); sync == "always") {
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

std::string agree(Connection& connection, const std::string& key, std::string_view field, const std::string& mine) {
  connection.run(Command::of("HSETNX", std::string_view{key}, field, std::string_view{mine}));
  return std::string{connection.run(Command::of("HGET", std::string_view{key}, field)).text()};
}

std::string random_name() {
  base::Random random{base::random_seed()};
  return std::to_string(random.next());
}

[[noreturn]] void refuse(const std::string& why) {
  throw StoreError{{Errc::invalid_argument, "redis.open", why}};
}

}  // namespace

Opened set_up(Connection& connection, const RedisOptions& options) {
  const Facts facts = facts_of(connection);
  check_server(facts);
  const std::string key = Keys{options.prefix}.store();
  const std::string layout = agree(connection, key, "layout", std::string{kLayout});
  if (layout != kLayout) {
    refuse("the store {" + options.prefix + "} has layout " + layout + " of another release; this one knows " +
           std::string{kLayout} + ". Use that release, or another prefix=");
  }
  const std::string shards = agree(connection, key, "shards", std::to_string(options.total_shards));
  if (shards != std::to_string(options.total_shards)) {
    refuse("the store {" + options.prefix + "} was made with shards=" + shards +
           ", this instance is configured with shards=" + std::to_string(options.total_shards) +
           "; set shards=" + shards + " in its url, or use another prefix=");
  }
  return {agree(connection, key, "incarnation", random_name()), durability(connection, facts, options.confirmation)};
}

std::optional<std::string> stored_shards(Connection& connection, const RedisOptions& options) {
  const std::string key = Keys{options.prefix}.store();
  const Reply reply = connection.run(Command::of("HGET", std::string_view{key}, "shards"));
  if (reply.text().empty()) return std::nullopt;
  return std::string{reply.text()};
}

}  // namespace easyretry::storage::redis
