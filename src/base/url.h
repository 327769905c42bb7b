#pragma once
// scheme:path?option=value&option=value, for stores and registries.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace easyretry::base {

struct Url {
  std::string scheme;
  std::string path;
  std::vector<std::pair<std::string, std::string>> options;  // as written, in order
};

// Throws std::invalid_argument if there is no scheme, an option has no value, or an option is given twice. The message
// does not contain the url. Nothing is percent-decoded.
Url split_url(std::string_view url);

// Decodes %40 to @. Throws std::invalid_argument, whose message does not contain the text.
std::string percent_decoded(std::string_view text);

// The url for display: `postgres://app:secret@db/retry` without the password. If a password with an '@' or '/' makes
// the url ambiguous, more is left out rather than less.
std::string without_password(std::string_view url);

// `unknown option "histroy" in sqlite:…; known are history, shards; did you mean "history"?`
[[noreturn]] void refuse_word(std::string_view what, std::string_view word, std::string_view url,
                              std::initializer_list<std::string_view> known);

}  // namespace easyretry::base
