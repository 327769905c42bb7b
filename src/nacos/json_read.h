#pragma once
// Reading what servers of many versions send: keys may be missing or null, and unknown ones are ignored.

#include <cstdint>
#include <string>
#include <string_view>

#include <easyretry/json_text.h>

namespace easyretry::nacos {

inline std::optional<JsonView> value_at(JsonView object, std::string_view key) {
  auto found = object.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

inline std::string string_at(JsonView object, std::string_view key) {
  const auto found = value_at(object, key);
  return found ? std::string{found->as_string()} : std::string{};
}

inline std::int64_t int_at(JsonView object, std::string_view key, std::int64_t otherwise) {
  const auto found = value_at(object, key);
  return found ? found->as_int() : otherwise;
}

inline double double_at(JsonView object, std::string_view key, double otherwise) {
  const auto found = value_at(object, key);
  return found ? found->as_double() : otherwise;
}

inline bool bool_at(JsonView object, std::string_view key, bool otherwise) {
  const auto found = value_at(object, key);
  return found ? found->as_bool() : otherwise;
}

}  // namespace easyretry::nacos
