#include "mxrmq/detect.h"

#include <utility>

#include <easyretry/error.h>

#include "storage/redis/set_up.h"

namespace easyretry::mxrmq {
namespace {

using storage::redis::Command;
using storage::redis::Connection;

constexpr std::string_view kDocPrefix = "mx-rmq";  // that the design notes have in all names

[[noreturn]] void refuse(std::string why) {
  throw StoreError{{Errc::invalid_argument, "mxrmq.open", std::move(why)}};
}

void check_server(Connection& connection) {
  const storage::redis::ServerFacts facts{[&](const Command& command) { return connection.run(command); }};
  facts.refuse_unfit();
  if (facts.is_in_a_cluster()) {
    refuse("this is a node of a Redis Cluster, which mx-rmq does not support; connect to the server that it uses");
  }
}

std::string type_of(Connection& connection, const std::string& key) {
  return std::string{connection.run(Command::of("TYPE", std::string_view{key})).text()};
}

// A name of another type is not this queue's: it counts only where the profile is used.
bool is_populated(Connection& connection, const Keys& keys) {
  return type_of(connection, keys.payloads) == "hash" || type_of(connection, keys.expires) == "zset" ||
         type_of(connection, keys.delays) == "zset" || type_of(connection, keys.dlq_data) == "hash";
}

void check_types(Connection& connection, const Keys& keys) {
  const std::pair<const std::string&, std::string_view> wanted[] = {
      {keys.payloads, "hash"}, {keys.expires, "zset"}, {keys.delays, "zset"},     {keys.dlq, "list"},
      {keys.dlq_data, "hash"}, {keys.errors, "list"},  {keys.errors_data, "hash"}};
  for (const auto& [key, type] : wanted) {
    const std::string there = type_of(connection, key);
    if (there == "none" || there == type) continue;
    std::string why = "\"" + key;
    why.append("\" is a ").append(there).append(", but mx-rmq would use a ").append(type);
    refuse(why.append(": this is another database, or it needs another prefix="));
  }
}

Keys keys_of(Profile profile, const QueueOptions& options) {
  const bool unnamed = profile == Profile::gen_doc && options.prefix.empty();
  return make_keys(profile, unnamed ? kDocPrefix : options.prefix, options.queue);
}

Keys whichever_is_there(Connection& connection, const QueueOptions& options) {
  std::vector<Profile> found;
  for (const Profile each : {Profile::gen2, Profile::gen1, Profile::gen_doc}) {
    if (is_populated(connection, keys_of(each, options))) found.push_back(each);
  }
  if (found.size() > 1) {
    refuse("there are messages of two releases of mx-rmq here, as " + std::string{to_string(found[0])} + " (\"" +
           keys_of(found[0], options).payloads + "\") and as " + std::string{to_string(found[1])} + " (\"" +
           keys_of(found[1], options).payloads + "\"); give profile=" + std::string{to_string(found[0])} +
           " first, then profile=" + std::string{to_string(found[1])});
  }
  return keys_of(found.empty() ? Profile::gen2 : found.front(), options);
}

}  // namespace

Keys detect_keys(Connection& connection, const QueueOptions& options) {
  check_server(connection);
  Keys keys = options.profile ? keys_of(*options.profile, options) : whichever_is_there(connection, options);
  if (keys.profile == Profile::gen_doc && options.queue.empty()) {
    refuse("the keys contain the name of a queue (gen-doc): give it, queue=… for \"" + keys.prefix + "…:payload\"");
  }
  check_types(connection, keys);
  return keys;
}

}  // namespace easyretry::mxrmq
