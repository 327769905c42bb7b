#pragma once
// Keeps secrets out of the log: the url of a chat room is a password, and errors quote urls. Thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::alert {

class Mask {
 public:
  // Hides everything after the host of the url, in whole and in parts.
  explicit Mask(std::string_view url);

  void also_hide(std::string_view secret);  // not thread-safe: before the mask is shared
  // The text with *** in place of every secret.
  std::string apply(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  // the longest first, because one may contain another
};

}  // namespace easyretry::alert
