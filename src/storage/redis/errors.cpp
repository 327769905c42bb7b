#include "storage/redis/errors.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace easyretry::storage::redis {
namespace {

using enum server::Trouble;

struct Meaning {
  std::string_view begins;
  server::Trouble trouble;
  std::string_view remedy;
};

constexpr std::string_view kMoving = "the cluster is being changed; if this lasts, see CLUSTER NODES";
constexpr std::string_view kCredentials = "check the user and the password in the url";

// The first match counts.
constexpr Meaning kMeanings[] = {
    {"LOADING", overloaded, "the server is loading its data after a start; it will be ready soon"},
    {"BUSY ", overloaded, "a script of another client blocks the server; SCRIPT KILL ends it"},
    {"READONLY", overloaded, "this is a replica; connect to the primary"},
    {"MASTERDOWN", overloaded, "this is a replica that has lost its primary; connect to the primary"},
    {"NOREPLICAS", overloaded, "min-replicas-to-write requires replicas that are not connected"},
    {"OOM", overloaded, "the server's memory is full; raise maxmemory. Stored tasks can still end"},
    {"MISCONF", overloaded, "the server cannot write to its disk; free space or see its log"},
    {"ERR max number of clients", overloaded, "raise maxclients of the server, or lower `connections` of the urls"},
    {"CLUSTER ", refused, "this is a node of a Redis Cluster; use redis+cluster://"},
    {"MOVED", overloaded, kMoving},
    {"ASK", overloaded, kMoving},
    {"TRYAGAIN", overloaded, "the slot is moving from one server to another; it will be ready soon"},
    {"CLUSTERDOWN", overloaded,
     "a primary of the cluster has failed and no replica has taken its place yet; with cluster-require-full-coverage "
     "no, the others keep working"},
    {"ERR This instance has cluster support disabled", refused, "this is not a Redis Cluster; use redis://"},
    {"NOAUTH", refused, "the server requires a password: redis://user:password@host"},
    {"WRONGPASS", refused, kCredentials},
    {"ERR AUTH", refused, kCredentials},
    {"ERR Client sent AUTH", refused, "the server has no password; leave it out of the url"},
    {"ERR invalid password", refused, kCredentials},
    {"NOPERM", refused, "the user may not do this: ACL SETUSER <user> ~{<prefix>*}* +@all, see docs/redis.md"},
    {"ERR DB index", refused, "the number after the / of the url is not a database of this server"},
    {"ERR invalid DB", refused, "what follows the / of the url must be the number of a database"},
    {"WRONGTYPE", bad_data, "something else is stored under a key of EasyRetry; use another prefix= or remove it"},
    {"ERR unknown command", refused, "EasyRetry needs Redis 7.0 or newer"},
};

const Meaning* meaning_of(std::string_view reply) {
  // A command in a script fails with "ERR WRONGTYPE … script: …", or with the plain error.
  if (reply.starts_with("ERR WRONGTYPE")) reply.remove_prefix(4);
  const auto* found = std::ranges::find_if(kMeanings, [&](const Meaning& m) { return reply.starts_with(m.begins); });
  return found == std::end(kMeanings) ? nullptr : found;
}

}  // namespace

server::ServerError server_error(std::string_view reply) {
  const Meaning* meaning = meaning_of(reply);
  std::string text{reply};
  if (meaning != nullptr) text.append(": ").append(meaning->remedy);
  return {meaning != nullptr ? meaning->trouble : refused, text};
}

bool spoils_connection(std::string_view reply) {
  return reply.starts_with("READONLY") || reply.starts_with("MASTERDOWN") || reply.starts_with("NOAUTH");
}

bool may_be_elsewhere(std::string_view reply) {
  return reply.starts_with("READONLY") || reply.starts_with("MASTERDOWN") || reply.starts_with("CLUSTERDOWN") ||
         reply.starts_with("LOADING");
}

}  // namespace easyretry::storage::redis
