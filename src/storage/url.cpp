#include "storage/url.h"

#include <algorithm>
#include <stdexcept>

#include "base/nearest.h"

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
  throw std::invalid_argument("store url \"" + without_password(url) + "\": " + std::string{why});
}

void add_option(StoreUrl& parsed, std::string_view option, std::string_view url) {
  const auto equals = option.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == option.size()) {
    refuse(url, "\"" + std::string{option} + "\" is not an option; write name=value");
  }
  std::string name{option.substr(0, equals)};
  const bool twice =
      std::any_of(parsed.options.begin(), parsed.options.end(), [&](const auto& known) { return known.first == name; });
  if (twice) refuse(url, "option \"" + name + "\" is given twice");
  parsed.options.emplace_back(std::move(name), option.substr(equals + 1));
}

}  // namespace

StoreUrl parse_store_url(std::string_view url) {
  const auto colon = url.find(':');
  if (colon == 0 || colon == std::string_view::npos) {
    refuse(url, "no scheme; write sqlite:retry.db, postgres://user:password@host/database, mysql://… or memory:");
  }
  const std::string_view rest = url.substr(colon + 1);
  const auto question = rest.find('?');
  StoreUrl parsed{std::string{url.substr(0, colon)}, std::string{rest.substr(0, question)}, {}};
  if (question == std::string_view::npos) return parsed;
  for (std::size_t at = question + 1; at <= rest.size();) {
    const std::size_t end = std::min(rest.find('&', at), rest.size());
    add_option(parsed, rest.substr(at, end - at), url);
    at = end + 1;
  }
  return parsed;
}

std::string without_password(std::string_view url) {
  const auto slashes = url.find("://");
  if (slashes == std::string_view::npos) return std::string{url};
  const auto authority = url.substr(slashes + 3, url.find_first_of("/?", slashes + 3) - slashes - 3);
  const auto at = authority.rfind('@');
  const auto colon = authority.find(':');
  if (at == std::string_view::npos || colon >= at) return std::string{url};
  return std::string{url.substr(0, slashes + 3 + colon)} + std::string{url.substr(slashes + 3 + at)};
}

void refuse_word(std::string_view what, std::string_view word, std::string_view url,
                 std::initializer_list<std::string_view> known) {
  std::string text =
      "unknown " + std::string{what} + " \"" + std::string{word} + "\" in " + without_password(url) + "; known are ";
  for (const std::string_view* name = known.begin(); name != known.end(); ++name) {
    text.append(name == known.begin() ? "" : ", ").append(*name);
  }
  if (const auto meant = base::nearest(word, known)) text.append("; did you mean \"").append(*meant).append("\"?");
  throw std::invalid_argument(text);
}

}  // namespace easyretry::storage
