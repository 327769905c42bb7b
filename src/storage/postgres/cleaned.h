#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace easyretry::storage::postgres {

// What people wrote, or programs said, may be anything; here it becomes what a text may hold. Lives as long as the
// views that it gives.
class Cleaned {
 public:
  std::string_view operator()(std::string_view text) {
    if (text.empty()) return {};
    const bool fine = base::invalid_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos;
    return fine ? text : texts_.emplace_back(base::storable_utf8(text));
  }

 private:
  std::deque<std::string> texts_;
};

}  // namespace easyretry::storage::postgres
