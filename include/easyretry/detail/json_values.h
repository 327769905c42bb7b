#pragma once
// JsonCodec for numbers, strings, enums and times.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <easyretry/detail/json_codec.h>

#pragma GCC visibility push(default)
namespace easyretry {

namespace detail {

template <class T>
concept JsonInteger = std::integral<T> && !std::same_as<T, bool>;

}  // namespace detail

template <>
struct JsonCodec<bool> {
  static void write(JsonWriter& out, bool value) { out.boolean(value); }
  static bool read(JsonView in) { return in.as_bool(); }
};

template <detail::JsonInteger T>
struct JsonCodec<T> {
  using Limits = std::numeric_limits<T>;

  // GCC 12 believes that the value of an empty std::optional gets here.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
  static void write(JsonWriter& out, T value) {
    if constexpr (std::is_signed_v<T>) {
      out.integer(value);
    } else {
      out.unsigned_integer(value);
    }
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  static T read(JsonView in) {
    if constexpr (std::is_signed_v<T>) {
      return checked(in, in.as_int());
    } else {
      return checked(in, in.as_uint());
    }
  }

 private:
  static T checked(JsonView in, auto value) {
    if (value < Limits::min() || value > Limits::max()) {
      in.fail("an integer from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()));
    }
    return static_cast<T>(value);
  }
};

template <>
struct JsonCodec<double> {
  static void write(JsonWriter& out, double value) { out.number(value); }
  static double read(JsonView in) { return in.as_double(); }
};

template <>
struct JsonCodec<float> {
  static void write(JsonWriter& out, float value) { out.number(value); }
  static float read(JsonView in) {
    const double value = in.as_double();
    const double most = std::numeric_limits<float>::max();
    if (value < -most || value > most) in.fail("a number that fits in a float");
    return static_cast<float>(value);
  }
};

template <>
struct JsonCodec<std::string> {
  static void write(JsonWriter& out, const std::string& value) { out.string(value); }
  static std::string read(JsonView in) { return std::string{in.as_string()}; }
};

template <>
struct JsonCodec<std::string_view> {
  static void write(JsonWriter& out, std::string_view value) { out.string(value); }
};
template <>
struct JsonCodec<const char*> : JsonCodec<std::string_view> {};
template <std::size_t N>
struct JsonCodec<char[N]> : JsonCodec<std::string_view> {};

template <class T>
requires std::is_enum_v<T>
struct JsonCodec<T> {
  using Number = std::underlying_type_t<T>;
  static void write(JsonWriter& out, T value) { JsonCodec<Number>::write(out, static_cast<Number>(value)); }
  static T read(JsonView in) { return static_cast<T>(JsonCodec<Number>::read(in)); }
};

template <class Rep, class Period>
requires JsonConvertible<Rep>
struct JsonCodec<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static void write(JsonWriter& out, Duration value) { JsonCodec<Rep>::write(out, value.count()); }
  static Duration read(JsonView in) { return Duration{JsonCodec<Rep>::read(in)}; }
};

template <class Duration>
struct JsonCodec<std::chrono::sys_time<Duration>> {
  using Time = std::chrono::sys_time<Duration>;
  using Rep = typename Duration::rep;
  using Millis = std::chrono::milliseconds;

  static void write(JsonWriter& out, Time value) {
    using Wide = std::chrono::duration<long double, std::milli>;
    if (!fits<std::int64_t>(Wide{value.time_since_epoch()}.count())) {
      throw JsonError("a time beyond the range of milliseconds in 64 bits");
    }
    out.integer(std::chrono::floor<Millis>(value.time_since_epoch()).count());
  }
  static Time read(JsonView in) {
    using Wide = std::chrono::duration<long double, typename Duration::period>;
    const Millis since{in.as_int()};
    if (!fits<Rep>(Wide{since}.count())) in.fail("a time that its type can hold");
    return Time{std::chrono::floor<Duration>(since)};
  }

 private:
  // 2^63 itself does not fit, and 2^63 - 1 is not a double: hence < and long double.
  template <class Integer>
  static bool fits(long double value) {
    using Limits = std::numeric_limits<Integer>;
    return value >= static_cast<long double>(Limits::lowest()) && value < static_cast<long double>(Limits::max()) + 1;
  }
};

}  // namespace easyretry
#pragma GCC visibility pop
