// The keys of alerts, and the values that only they have.

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "config/key_builders.h"
#include "config/keys.h"
#include "config/node.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

constexpr std::size_t kLongestUrl = 4096;
constexpr std::size_t kLongestAddress = 254;  // RFC 5321

[[noreturn]] void refuse_alert(const std::string& what, std::string_view form) {
  throw std::invalid_argument(what + "; write " + std::string{form});
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

// Only the plain form: an address with quotes or comments would have to be parsed before it could be put in a header.
bool is_mail_address(std::string_view text) {
  const auto at = text.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == text.npos &&
         text.size() <= kLongestAddress && is_visible_ascii(text) && text.find_first_of("<>()[]\\,;:\"") == text.npos;
}

using namespace std::chrono_literals;
using enum TakesEffect;
using build::at, build::key, build::duration_in, build::list, build::number_in;

int read_percent(const Node& node) {
  constexpr std::string_view kForm = "percent from 1% to 100%, such as 50%";
  const std::string& text = read_word(node, kForm);
  int percent = 0;
  const char* const last = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
  const auto [end, error] = std::from_chars(text.data(), last, percent);
  if (!text.ends_with('%') || error != std::errc{} || end != last || percent < 1 || percent > 100) {
    refuse_alert(in_quotes(text), kForm);
  }
  return percent;
}

// Errors do not quote the url, because it is a secret.
std::string read_channel_url(const Node& node) {
  constexpr std::string_view kForm = "the url that the messages go to, such as https://hooks.slack.com/services/…";
  const std::string& url = read_word(node, kForm);
  const auto slashes = url.find("://");
  if (slashes == std::string::npos || slashes == 0) refuse_alert("it has no scheme", kForm);
  if (url.size() > kLongestUrl || !is_visible_ascii(url)) {
    refuse_alert("it contains a space or a character outside ASCII, or more than 4096 characters", kForm);
  }
  const std::string_view host =
      std::string_view{url}.substr(slashes + 3, url.find_first_of("/?#", slashes + 3) - slashes - 3);
  if (host.empty()) refuse_alert("it has no host", kForm);
  if (host.find('@') != host.npos)
    refuse_alert("it contains a user", "the url without it; for e-mail use the key user");
  return url;
}

std::string read_address(const Node& node) {
  constexpr std::string_view kForm = "an e-mail address, such as oncall@example.com";
  const std::string& address = read_word(node, kForm);
  if (!is_mail_address(address)) refuse_alert(in_quotes(address), kForm);
  return address;
}

std::vector<std::string> read_addresses(const Node& node) {
  if (node.kind != Node::Kind::list) return {read_address(node)};
  std::vector<std::string> addresses;
  for (const Node& item : node.items) addresses.push_back(read_address(item));
  return addresses;
}

// Written only if it is set, because not every type of channel has it.
Key<AlertChannel> text(std::string_view name, std::string AlertChannel::*field, auto reader) {
  Key<AlertChannel> made = key<AlertChannel>(name, after_restart, at(field), reader);
  made.text = [field](const AlertChannel& channel) -> std::optional<std::string> {
    if ((channel.*field).empty()) return std::nullopt;
    return yaml_word(channel.*field);
  };
  return made;
}

Key<AlertChannel> type() {
  return {"type", after_restart,
          [](AlertChannel& channel, const Node& node) { channel.type = read_channel_type(node); },
          [](const AlertChannel& channel) { return std::string{channel_type_text(channel.type)}; }};
}

Key<AlertChannel> recipients() {
  return {"to", after_restart, [](AlertChannel& channel, const Node& node) { channel.to = read_addresses(node); },
          [](const AlertChannel& channel) -> std::optional<std::string> {
            if (channel.to.empty()) return std::nullopt;
            return yaml_list(channel.to);
          }};
}

Key<AlertRule> failure_rate() {
  return {"failure_rate", after_restart,
          [](AlertRule& rule, const Node& node) { rule.failure_rate = read_percent(node); },
          [](const AlertRule& rule) -> std::optional<std::string> {
            if (rule.failure_rate == 0) return std::nullopt;
            return std::to_string(rule.failure_rate) + "%";
          }};
}

}  // namespace

// All of them take a restart: channels are opened once, and counts of a rule depend on its values.
const std::vector<Key<AlertChannel>>& channel_keys() {
  using C = AlertChannel;
  static const std::vector<Key<C>> keys{
      type(),
      text("url", &C::url, read_channel_url),
      text("secret_file", &C::secret_file, read_path),
      key<C>("per_minute", after_restart, at(&C::per_minute), number_in<int>({1, 600})),
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
      list(key<R>("handlers", after_restart, at(&R::handlers), read_words)),
      list(key<R>("namespaces", after_restart, at(&R::namespaces), read_words)),
      list(key<R>("channels", after_restart, at(&R::channels), read_words)),
      key<R>("final_failures", after_restart, at(&R::final_failures), number_in<int>({0, 1'000'000})),
      key<R>("quarantines", after_restart, at(&R::quarantines), number_in<int>({0, 1'000'000})),
      key<R>("backlog_age", after_restart, at(&R::backlog_age), duration_in({0s, 24h * 365})),
      key<R>("circuit_open", after_restart, at(&R::circuit_open), duration_in({0s, 24h * 365})),
      failure_rate(),
      key<R>("min_attempts", after_restart, at(&R::min_attempts), number_in<int>({1, 1'000'000})),
      key<R>("wait", after_restart, at(&R::wait), duration_in({0s, 24h})),
      key<R>("window", after_restart, at(&R::window), duration_in({1s, 24h * 7})),
      key<R>("samples", after_restart, at(&R::samples), number_in<int>({0, 10})),
  };
  return keys;
}

}  // namespace easyretry::config
