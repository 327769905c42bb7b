#pragma once
// Keeps secrets out of what is logged: the urls of chat rooms are passwords, and errors quote urls. Thread-safe.

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::alert {

class Mask {
 public:
  // Everything behind the url's host is hidden, piece by piece.
  explicit Mask(std::string_view url);

  void also_hide(std::string_view secret);  // before it is shared
  // With *** in place of every secret.
  std::string apply(std::string_view text) const;

 private:
  std::vector<std::string> secrets_;  // the longest first: one may be a part of another
};

}  // namespace easyretry::alert
