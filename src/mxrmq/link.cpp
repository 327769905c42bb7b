#include "mxrmq/link.h"

#include <utility>

#include <easyretry/error.h>

#include "storage/redis/connection.h"
#include "storage/redis/set_up.h"

namespace easyretry::mxrmq {
namespace {

using storage::redis::Connection;
using storage::redis::Lane;
using storage::redis::OneServer;
using storage::redis::Request;
using storage::server::Trouble;

constexpr std::string_view kDocPrefix = "mx-rmq";  // the prefix of all names in the design notes

[[noreturn]] void refuse_server(std::string why) {
  throw StoreError{{Errc::invalid_argument, "mxrmq.open", std::move(why)}};
}

void check_server(Connection& connection) {
  const storage::redis::ServerFacts facts{[&](const Command& command) { return connection.run(command); }};
  facts.refuse_unfit();
  if (facts.is_in_a_cluster()) {
    refuse_server(
        "this is a node of a Redis Cluster, which mx-rmq does not support; connect to the server that it uses");
  }
}

std::string type_of(Connection& connection, const std::string& key) {
  return std::string{connection.run(Command::of("TYPE", std::string_view{key})).text()};
}

// A key of another type does not belong to this queue; it is an error only if the profile is used.
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
    refuse_server(why.append(": this is another database, or it needs another prefix="));
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
    refuse_server("there are messages of two releases of mx-rmq here, as " + std::string{to_string(found[0])} + " (\"" +
                  keys_of(found[0], options).payloads + "\") and as " + std::string{to_string(found[1])} + " (\"" +
                  keys_of(found[1], options).payloads + "\"); give profile=" + std::string{to_string(found[0])} +
                  " first, then profile=" + std::string{to_string(found[1])});
  }
  return keys_of(found.empty() ? Profile::gen2 : found.front(), options);
}

// The keys of the profile in the URL or, without one, of whichever generation has data; gen2 if none has. Throws
// StoreError if two generations have data, if a key has another type, or if the server is unsuitable; ServerError if it
// does not answer.
Keys detect_keys(Connection& connection, const QueueOptions& options) {
  check_server(connection);
  Keys keys = options.profile ? keys_of(*options.profile, options) : whichever_is_there(connection, options);
  if (keys.profile == Profile::gen_doc && options.queue.empty()) {
    refuse_server("the keys contain the name of a queue (gen-doc): give it, queue=… for \"" + keys.prefix +
                  "…:payload\"");
  }
  check_types(connection, keys);
  return keys;
}

}  // namespace

QueueConnection::QueueConnection(QueueOptions options)
    : options_(std::move(options)),
      redis_(std::make_unique<OneServer>(options_.address.endpoint()), {options_.address, options_.connections}),
      keys_(opened()) {}

Keys QueueConnection::opened() {
  return or_store_error("mxrmq.open", Access::read, [this] {
    Connection connection{options_.address};
    return detect_keys(connection, options_);
  });
}

Reply QueueConnection::run(const Script& script, std::string_view topic, const std::vector<std::string>& arguments) {
  std::vector<std::string> keys{keys_.payloads, keys_.expires,     keys_.delays,      keys_.dlq,
                                keys_.dlq_data, keys_.errors,      keys_.errors_data, keys_.own(),
                                keys_.lost(),   keys_.importing(), keys_.letters()};
  if (!topic.empty()) {
    keys.push_back(keys_.pending(topic));
    keys.push_back(keys_.processing(topic));
  }
  const Clock* clock = options_.clock;
  std::vector<std::string> all{clock != nullptr ? std::to_string(clock->now().time_since_epoch().count()) : "",
                               keys_.wake, keys_.prefix};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const std::string key_count = std::to_string(keys.size());
  Request request{.command = Command::of("EVALSHA", script.sha, std::string_view{key_count}), .script = &script};
  for (const std::string& key : keys) request.command.add(key);
  for (const std::string& argument : all) request.command.add(argument);
  storage::redis::Answer answer = std::move(redis_.run(Lane::work, {&request, 1}, {}).front());
  if (answer.failure) std::rethrow_exception(answer.failure);
  if (answer.reply->is_error()) throw storage::redis::server_error(answer.reply->text());
  return *std::move(answer.reply);
}

Reply QueueConnection::run(const Command& command) {
  return redis_.run(Lane::work, storage::redis::Slot{0}, command);
}

StoreError to_store_error(const ServerError& error, std::string_view where, Access access) {
  Errc code = Errc::unavailable;
  if (error.trouble() == Trouble::bad_data) code = Errc::invalid_argument;
  if (access == Access::write && dynamic_cast<const LostReply*>(&error) != nullptr) code = Errc::in_doubt;
  return StoreError{{code, std::string{where}, error.what()}};
}

}  // namespace easyretry::mxrmq
