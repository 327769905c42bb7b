#include "mxrmq/link.h"

namespace easyretry::mxrmq {

using storage::redis::Answer;
using storage::redis::Connection;
using storage::redis::Lane;
using storage::redis::OneServer;
using storage::redis::Request;
using storage::server::Trouble;

Link::Link(QueueOptions options)
    : options_(std::move(options)),
      way_(std::make_unique<OneServer>(options_.address.endpoint()), {options_.address, options_.connections}),
      keys_(opened()) {}

Keys Link::opened() {
  return or_store_error("mxrmq.open", Does::read, [this] {
    Connection connection{options_.address};
    return detect_keys(connection, options_);
  });
}

Reply Link::run(const Script& script, std::string_view topic, const std::vector<std::string>& arguments) {
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
  Answer answer = std::move(way_.run(Lane::work, {&request, 1}, {}).front());
  if (answer.failure) std::rethrow_exception(answer.failure);
  if (answer.reply->is_error()) throw storage::redis::server_error(answer.reply->text());
  return *std::move(answer.reply);
}

Reply Link::run(const Command& command) {
  return way_.run(Lane::work, storage::redis::Slot{0}, command);
}

StoreError to_store_error(const ServerError& error, std::string_view where, Does does) {
  Errc code = Errc::unavailable;
  if (error.trouble() == Trouble::bad_data) code = Errc::invalid_argument;
  if (does == Does::write && dynamic_cast<const LostReply*>(&error) != nullptr) code = Errc::in_doubt;
  return StoreError{{code, std::string{where}, error.what()}};
}

}  // namespace easyretry::mxrmq
