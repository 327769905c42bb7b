#include "storage/url.h"

#include <algorithm>
#include <stdexcept>

#include "base/nearest.h"

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
  throw std::invalid_argument("store url \"" + std::string{url} + "\": " + std::string{why});
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
    refuse(url, "no scheme; write memory: or sqlite:path, such as sqlite:retry.db");
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

void refuse_word(std::string_view what, std::string_view word, std::string_view url,
                 std::initializer_list<std::string_view> known) {
  std::string text =
      "unknown " + std::string{what} + " \"" + std::string{word} + "\" in " + std::string{url} + "; known are ";
  for (const std::string_view* name = known.begin(); name != known.end(); ++name) {
    text.append(name == known.begin() ? "" : ", ").append(*name);
  }
  if (const auto meant = base::nearest(word, known)) text.append("; did you mean \"").append(*meant).append("\"?");
  throw std::invalid_argument(text);
}

}  // namespace easyretry::storage
