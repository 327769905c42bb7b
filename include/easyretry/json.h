#pragma once
// How C++ values are stored as JSON: to_json(order), from_json<Order>(text).
//
//   bool, integers, float, double   JSON values; an integer out of range is an error, never truncated
//   std::string                     string; must be UTF-8. string_view and const char* can be written, not read
//   enums                           the underlying integer
//   vector, array, deque, list,     arrays; an unordered_set is sorted by the JSON text of its elements
//     pair, tuple, sets
//   map, unordered_map              objects if the keys are strings, else [[key, value], …],
//                                   sorted by the JSON text of the keys
//   optional, monostate, nullptr_t  null if empty; an empty optional field is omitted, so that adding one to a
//                                   struct does not change the keys of stored tasks
//   variant                         [index, value]
//   chrono::duration                the count in its own unit: 90s is 90, 90ms is 90
//   chrono::sys_time                milliseconds since 1970, rounded down
//   a struct with EASYRETRY_JSON    object; a missing field is an error unless optional, unknown fields are ignored
//
// For any other type, specialise JsonCodec<T> with `write` and `read`.

#include <string>
#include <string_view>

#include <easyretry/detail/json_containers.h>
#include <easyretry/detail/json_struct.h>
#include <easyretry/detail/json_values.h>

#pragma GCC visibility push(default)
namespace easyretry {

template <class T>
std::string to_json(const T& value) {
  detail::require_json<T, detail::kWritable<T>>();
  JsonWriter out;
  if constexpr (detail::kWritable<T>) JsonCodec<T>::write(out, value);
  return out.take();
}

template <class T>
T from_json(std::string_view text) {
  detail::require_json<T, detail::kReadable<T>>();
  const JsonDocument document = JsonDocument::parse(text);
  if constexpr (detail::kReadable<T>) {
    return JsonCodec<T>::read(document.root());
  } else {
    document.root().fail("a type with a JSON conversion");  // never compiled; avoids a second compiler error
  }
}

}  // namespace easyretry
#pragma GCC visibility pop
