#pragma once
// Headers of a call, and what may stand in them. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace easyretry::webhook {

struct Header {
  std::string name;
  std::string value;
};

// Why this header may not be sent. Nullopt: it may. A line end in a value would begin another header, or another
// request; what says how long a request is and to whom it goes is not a caller's to say.
std::optional<std::string> objection(const Header& header);

// Any text as the value of a header: what is not visible ASCII, and %, in %-escapes.
std::string header_text(std::string_view text);

}  // namespace easyretry::webhook
