#pragma once
// How C++ values are stored: to_json(order), from_json<Order>(text).
//
//   bool, integers, float, double   themselves; an integer that does not fit is an error, never cut
//   std::string                     itself; must be UTF-8. string_view and const char* can only be written
//   enums                           their integer
//   vector, array, deque, list,     arrays; an unordered_set sorted by its elements' texts
//     pair, tuple, sets
//   map, unordered_map              objects if the keys are strings, else [[key, value], …] by the keys' texts
//   optional, monostate, nullptr_t  null where there is nothing; an empty optional field is left out, so that adding
//                                   one to a struct does not change the key of the tasks that are stored
//   variant                         [index, value]
//   chrono::duration                its count, of its own period: 90s is 90, 90ms is 90
//   chrono::sys_time                milliseconds since 1970, rounded down
//   a struct with EASYRETRY_JSON    object; a missing field is an error unless optional, unknown ones are ignored
//
// Anything else: specialise JsonCodec<T> with `write` and `read`.

#include <string>
#include <string_view>

#include <easyretry/json_containers.h>
#include <easyretry/json_fields.h>
#include <easyretry/json_struct.h>
#include <easyretry/json_values.h>

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
    document.root().fail("a type with a JSON conversion");  // never compiled; spares the reader a second error
  }
}

}  // namespace easyretry
