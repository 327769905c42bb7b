#include "base/url.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/nearest.h"

namespace easyretry::base {
namespace {

void add_option(Url& url, std::string_view option) {
  const auto equals = option.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == option.size()) {
    throw std::invalid_argument("\"" + std::string{option} + "\" is not an option; write name=value");
  }
  std::string name{option.substr(0, equals)};
  const bool twice =
      std::any_of(url.options.begin(), url.options.end(), [&](const auto& known) { return known.first == name; });
  if (twice) throw std::invalid_argument("option \"" + name + "\" is given twice");
  url.options.emplace_back(std::move(name), option.substr(equals + 1));
}

}  // namespace

Url split_url(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) throw std::invalid_argument("no scheme");
  const std::string_view rest = text.substr(colon + 1);
  const auto question = rest.find('?');
  Url url{std::string{text.substr(0, colon)}, std::string{rest.substr(0, question)}, {}};
  if (question == std::string_view::npos) return url;
  for (std::size_t at = question + 1; at <= rest.size();) {
    const std::size_t end = std::min(rest.find('&', at), rest.size());
    add_option(url, rest.substr(at, end - at));
    at = end + 1;
  }
  return url;
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain.push_back(text[i]);
      continue;
    }
    unsigned char byte = 0;
    const char* from = text.data() + i + 1;
    const bool two = i + 2 < text.size();
    if (!two || std::from_chars(from, from + 2, byte, 16).ptr != from + 2) {
      throw std::invalid_argument("a % that is not followed by two hexadecimal digits (a % itself is %25)");
    }
    plain.push_back(static_cast<char>(byte));
    i += 2;
  }
  return plain;
}

std::string without_password(std::string_view url) {
  const auto slashes = url.find("://");
  if (slashes == std::string_view::npos) return std::string{url};
  const auto colon = url.find(':', slashes + 3);
  const auto at = url.rfind('@');
  if (at == std::string_view::npos || colon >= at) return std::string{url};
  return std::string{url.substr(0, colon)} + std::string{url.substr(at)};
}

void refuse_word(std::string_view what, std::string_view word, std::string_view url,
                 std::initializer_list<std::string_view> known) {
  std::string text =
      "unknown " + std::string{what} + " \"" + std::string{word} + "\" in " + without_password(url) + "; known are ";
  for (const std::string_view* name = known.begin(); name != known.end(); ++name) {
    text.append(name == known.begin() ? "" : ", ").append(*name);
  }
  if (const auto meant = nearest(word, known)) text.append("; did you mean \"").append(*meant).append("\"?");
  throw std::invalid_argument(text);
}

}  // namespace easyretry::base
