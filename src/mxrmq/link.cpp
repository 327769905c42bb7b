#include "mxrmq/link.h"

namespace easyretry::mxrmq {

using storage::redis::Answer;
using storage::redis::Connection;
using storage::redis::Posting;
using storage::sql::Trouble;

namespace {

// Has the server load the script where it does not know it.
Reply run_script(Connection& connection, const Script& script, const std::vector<std::string>& keys,
                 const std::vector<std::string>& arguments) {
  const std::string key_count = std::to_string(keys.size());
  Command command = Command::of("EVALSHA", script.sha, std::string_view{key_count});
  for (const std::string& key : keys) command.add(key);
  for (const std::string& argument : arguments) command.add(argument);
  for (bool loaded = false;; loaded = true) {
    const Posting posting{.command = &command};
    connection.post({&posting, 1}, {});
    Answer answer = std::move(connection.collect().front());
    if (answer.failure) std::rethrow_exception(answer.failure);
    if (loaded || !answer.reply->is_error() || !storage::redis::is_no_script(answer.reply->text())) {
      return *std::move(answer.reply);
    }
    connection.run(Command::of("SCRIPT", "LOAD", script.code));
  }
}

}  // namespace

Link::Link(QueueOptions options)
    : options_(std::move(options)),
      pool_([this] { return std::make_unique<Connection>(options_.address); }, options_.connections),
      keys_(opened()) {}

Keys Link::opened() {
  return or_store_error("mxrmq.open", Does::read, [this] { return detect_keys(*pool_.take(), options_); });
}

Reply Link::run(const Script& script, std::string_view topic, const std::vector<std::string>& arguments) {
  std::vector<std::string> keys{keys_.payloads, keys_.expires,     keys_.delays, keys_.dlq,    keys_.dlq_data,
                                keys_.errors,   keys_.errors_data, keys_.own(),  keys_.lost(), keys_.importing()};
  if (!topic.empty()) {
    keys.push_back(keys_.pending(topic));
    keys.push_back(keys_.processing(topic));
  }
  const Clock* clock = options_.clock;
  std::vector<std::string> all{clock != nullptr ? std::to_string(clock->now().time_since_epoch().count()) : "",
                               keys_.wake, keys_.prefix};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const auto connection = pool_.take();
  Reply reply = run_script(*connection, script, keys, all);
  if (reply.is_error()) throw storage::redis::server_error(reply.text());
  return reply;
}

Reply Link::run(const Command& command) {
  return pool_.take()->run(command);
}

StoreError to_store_error(const ServerError& error, std::string_view where, Does does) {
  Errc code = Errc::unavailable;
  if (error.trouble() == Trouble::bad_data) code = Errc::invalid_argument;
  if (does == Does::write && dynamic_cast<const LostReply*>(&error) != nullptr) code = Errc::in_doubt;
  return StoreError{{code, std::string{where}, error.what()}};
}

}  // namespace easyretry::mxrmq
