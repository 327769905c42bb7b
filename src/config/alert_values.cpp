// Values that only alerts have.

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "config/problems.h"
#include "config/values.h"

namespace easyretry::config {
namespace {

constexpr std::size_t kLongestUrl = 4096;
constexpr std::size_t kLongestAddress = 254;  // RFC 5321

[[noreturn]] void refuse(const std::string& what, std::string_view form) {
  throw std::invalid_argument(what + "; write " + std::string{form});
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

// The plain form alone: what is quoted or commented would have to be taken apart before it could stand in a header.
bool is_address(std::string_view text) {
  const auto at = text.find('@');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == text.npos &&
         text.size() <= kLongestAddress && is_visible_ascii(text) && text.find_first_of("<>()[]\\,;:\"") == text.npos;
}

}  // namespace

int read_percent(const Node& node) {
  constexpr std::string_view kForm = "percent from 1% to 100%, such as 50%";
  const std::string& text = read_word(node, kForm);
  int percent = 0;
  const char* const last = text.data() + text.size() - (text.ends_with('%') ? 1 : 0);
  const auto [end, error] = std::from_chars(text.data(), last, percent);
  if (!text.ends_with('%') || error != std::errc{} || end != last || percent < 1 || percent > 100) {
    refuse(in_quotes(text), kForm);
  }
  return percent;
}

std::string read_channel_url(const Node& node) {
  constexpr std::string_view kForm = "the url that the messages go to, such as https://hooks.slack.com/services/…";
  const std::string& url = read_word(node, kForm);
  const auto slashes = url.find("://");
  if (slashes == std::string::npos || slashes == 0) refuse("it has no scheme", kForm);
  if (url.size() > kLongestUrl || !is_visible_ascii(url)) {
    refuse("it contains a space or a character outside ASCII, or more than 4096 characters", kForm);
  }
  const std::string_view host =
      std::string_view{url}.substr(slashes + 3, url.find_first_of("/?#", slashes + 3) - slashes - 3);
  if (host.empty()) refuse("it has no host", kForm);
  if (host.find('@') != host.npos) refuse("it contains a user", "the url without it; for e-mail use the key user");
  return url;
}

std::string read_address(const Node& node) {
  constexpr std::string_view kForm = "an e-mail address, such as oncall@example.com";
  const std::string& address = read_word(node, kForm);
  if (!is_address(address)) refuse(in_quotes(address), kForm);
  return address;
}

std::vector<std::string> read_addresses(const Node& node) {
  if (node.kind != Node::Kind::list) return {read_address(node)};
  std::vector<std::string> addresses;
  for (const Node& item : node.items) addresses.push_back(read_address(item));
  return addresses;
}

}  // namespace easyretry::config
