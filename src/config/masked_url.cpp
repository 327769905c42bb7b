#include "config/masked_url.h"

#include <algorithm>

namespace easyretry::config {
namespace {

constexpr std::string_view kMask = "***";

void mask_password(std::string& url) {
  const auto slashes = url.find("://");
  if (slashes == std::string::npos) return;
  const auto colon = url.find(':', slashes + 3);
  const auto at = url.rfind('@');
  if (colon != std::string::npos && at != std::string::npos && colon < at) {
    url.replace(colon + 1, at - colon - 1, kMask);
  }
}

void mask_option(std::string& url, std::string_view word) {
  for (auto found = url.find(word); found != std::string::npos; found = url.find(word, found + 1)) {
    const auto equals = found + word.size();
    if (equals >= url.size() || url[equals] != '=' || url.rfind('?', found) == std::string::npos) continue;
    url.replace(equals + 1, std::min(url.find('&', equals), url.size()) - equals - 1, kMask);
  }
}

}  // namespace

std::string masked_url(std::string_view url) {
  std::string text{url};
  mask_password(text);
  for (const std::string_view word : {"password", "passwd", "token", "secret", "key"}) mask_option(text, word);
  return text;
}

std::string masked_webhook_url(std::string_view url) {
  const auto slashes = url.find("://");
  const auto begin = slashes == std::string_view::npos ? 0 : slashes + 3;
  std::string text{url.substr(0, begin)};
  std::string_view rest = url.substr(begin);
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    text.append(kMask);
    rest.remove_prefix(at);
  }
  const auto end = rest.find_first_of("/?#");
  text.append(rest.substr(0, end));
  if (end != std::string_view::npos) text.append("/").append(kMask);
  return text;
}

}  // namespace easyretry::config
