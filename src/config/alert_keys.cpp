#include "config/keys.h"
#include "config/making_keys.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

using namespace std::chrono_literals;
using enum Takes;
using making::at, making::key, making::lasting, making::list, making::whole;

// What a channel's type does not know is not written.
Key<AlertChannel> text(std::string_view name, std::string AlertChannel::*field, auto reader) {
  Key<AlertChannel> made = key<AlertChannel>(name, a_restart, at(field), reader);
  made.text = [field](const AlertChannel& channel) -> std::optional<std::string> {
    if ((channel.*field).empty()) return std::nullopt;
    return yaml_word(channel.*field);
  };
  return made;
}

Key<AlertChannel> type() {
  return {"type", a_restart, [](AlertChannel& channel, const Node& node) { channel.type = read_channel_type(node); },
          [](const AlertChannel& channel) { return std::string{channel_type_text(channel.type)}; }};
}

Key<AlertChannel> recipients() {
  return {"to", a_restart, [](AlertChannel& channel, const Node& node) { channel.to = read_addresses(node); },
          [](const AlertChannel& channel) -> std::optional<std::string> {
            if (channel.to.empty()) return std::nullopt;
            return yaml_list(channel.to);
          }};
}

Key<AlertRule> failure_rate() {
  return {"failure_rate", a_restart, [](AlertRule& rule, const Node& node) { rule.failure_rate = read_percent(node); },
          [](const AlertRule& rule) -> std::optional<std::string> {
            if (rule.failure_rate == 0) return std::nullopt;
            return std::to_string(rule.failure_rate) + "%";
          }};
}

}  // namespace

// Channels are opened once, and rules have counted by what they were.
const std::vector<Key<AlertChannel>>& channel_keys() {
  using C = AlertChannel;
  static const std::vector<Key<C>> keys{
      type(),
      text("url", &C::url, read_channel_url),
      text("secret_file", &C::secret_file, read_path),
      key<C>("per_minute", a_restart, at(&C::per_minute), whole<int>({1, 600})),
      text("user", &C::user, [](const Node& node) { return read_word(node, "the name to log in with"); }),
      text("password_file", &C::password_file, read_path),
      text("from", &C::from, read_address),
      recipients(),
      text("ca_file", &C::ca_file, read_path),
  };
  return keys;
}

const std::vector<Key<AlertRule>>& rule_keys() {
  using R = AlertRule;
  static const std::vector<Key<R>> keys{
      list(key<R>("handlers", a_restart, at(&R::handlers), read_words)),
      list(key<R>("spaces", a_restart, at(&R::spaces), read_words)),
      list(key<R>("channels", a_restart, at(&R::channels), read_words)),
      key<R>("final_failures", a_restart, at(&R::final_failures), whole<int>({0, 1'000'000})),
      key<R>("quarantines", a_restart, at(&R::quarantines), whole<int>({0, 1'000'000})),
      key<R>("backlog_age", a_restart, at(&R::backlog_age), lasting({0s, 24h * 365})),
      failure_rate(),
      key<R>("min_attempts", a_restart, at(&R::min_attempts), whole<int>({1, 1'000'000})),
      key<R>("wait", a_restart, at(&R::wait), lasting({0s, 24h})),
      key<R>("window", a_restart, at(&R::window), lasting({1s, 24h * 7})),
      key<R>("samples", a_restart, at(&R::samples), whole<int>({0, 10})),
  };
  return keys;
}

}  // namespace easyretry::config
