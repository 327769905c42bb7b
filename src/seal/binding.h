#pragma once
// What a sealed payload belongs to. It opens only there: moved to another row, column or namespace it is refused.

#include <cstdint>
#include <string>
#include <string_view>

namespace easyretry::seal {

enum class Content : std::uint8_t { arguments = 1, result = 2 };

struct Binding {
  std::string_view space;
  std::string_view handler;
  std::string_view key;  // of the task; its id is not known when its arguments are sealed, and changes on requeue
  Content content = Content::arguments;
  int payload_version = 1;
};

std::string_view to_string(Content content);

// Numbers are 8 bytes, the lowest first; a text has its length before it, so no two bindings have the same encoding:
//
//   "easyretry.sealed.1" | content | payload_version | space | handler | key
std::string encode(const Binding& binding);

}  // namespace easyretry::seal
