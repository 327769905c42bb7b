#pragma once
// The extension point for JSON conversions: a type specialises JsonCodec with `write` and `read`.

#include <concepts>

#include <easyretry/detail/json_text.h>

#pragma GCC visibility push(default)
namespace easyretry {

template <class T>
struct JsonCodec {};

template <class T>
concept JsonWritable = requires(JsonWriter& out, const T& value) {
  JsonCodec<T>::write(out, value);
};
template <class T>
concept JsonReadable = requires(JsonView in) {
  { JsonCodec<T>::read(in) } -> std::same_as<T>;
};
template <class T>
concept JsonConvertible = JsonWritable<T> && JsonReadable<T>;

namespace detail {

// Plain constants, because compilers explain a failed concept at length and a failed constant in one line.
template <class T>
inline constexpr bool kWritable = JsonWritable<T>;
template <class T>
inline constexpr bool kReadable = JsonReadable<T>;

template <class Type, bool convertible>
constexpr void require_json() {
  static_assert(convertible,
                "easyretry: this type has no JSON conversion; add EASYRETRY_JSON(Type, fields...) beside it");
}

}  // namespace detail

}  // namespace easyretry
#pragma GCC visibility pop
