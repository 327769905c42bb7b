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

// Throws std::invalid_argument, without the url in its text, for what has no scheme, an option without a value, or an
// option given twice. Nothing is decoded: a path is a path.
Url split_url(std::string_view url);

// %40 is @. Throws std::invalid_argument, without the text in its own.
std::string percent_decoded(std::string_view text);

// The url as it may be shown: `postgres://app:secret@db/retry` without the secret. Where a password with a '/' in it
// makes it unclear, rather more is left out than less.
std::string without_password(std::string_view url);

// `unknown option "histroy" in sqlite:…; known are history, shards; did you mean "history"?`
[[noreturn]] void refuse_word(std::string_view what, std::string_view word, std::string_view url,
                              std::initializer_list<std::string_view> known);

}  // namespace easyretry::base
