#include "alert/mask.h"

#include <algorithm>

namespace easyretry::alert {
namespace {

// Shorter parts of a url, such as "services" or "v2", are not secret, and also occur in other words.
constexpr std::size_t kShortestPart = 9;
constexpr std::string_view kMask = "***";

std::string_view after_host(std::string_view url) {
  const auto slashes = url.find("://");
  const auto end = url.find_first_of("/?#", slashes == std::string_view::npos ? 0 : slashes + 3);
  return end == std::string_view::npos ? std::string_view{} : url.substr(end);
}

}  // namespace

Mask::Mask(std::string_view url) {
  const std::string_view rest = after_host(url);
  if (rest.size() > 1) also_hide(rest);
  if (const auto query = rest.find('?'); query != std::string_view::npos && query > 1) also_hide(rest.substr(0, query));
  for (std::size_t at = 0; at < rest.size();) {
    const auto end = std::min(rest.find_first_of("/?#&=", at), rest.size());
    if (end - at >= kShortestPart) also_hide(rest.substr(at, end - at));
    at = end + 1;
  }
}

void Mask::also_hide(std::string_view secret) {
  if (secret.empty()) return;
  secrets_.emplace_back(secret);
  std::ranges::stable_sort(secrets_, std::ranges::greater{}, &std::string::size);
}

std::string Mask::apply(std::string_view text) const {
  std::string masked{text};
  for (const std::string& secret : secrets_) {
    for (auto at = masked.find(secret); at != std::string::npos; at = masked.find(secret, at + kMask.size())) {
      masked.replace(at, secret.size(), kMask);
    }
  }
  return masked;
}

}  // namespace easyretry::alert
