#pragma once
// How C++ values are stored: to_json(order), from_json<Order>(text).
//
//   bool, integers, float, double          themselves; an integer that does not fit is an error, never cut
//   std::string                            itself; must be UTF-8. string_view and const char* can only be written
//   enums                                  their integer
//   vector, array, set, pair, tuple        arrays
//   map, unordered_map with string keys    objects
//   optional, monostate, nullptr_t         null where there is nothing; an empty optional field is left out, so that
//                                          adding one to a struct does not change the key of the tasks that are stored
//   variant                                [index, value]
//   chrono::duration                       its count, of its own period: 90s is 90, 90ms is 90
//   chrono::sys_time                       milliseconds since 1970, rounded down
//   a struct with EASYRETRY_JSON           object; a missing field is an error unless optional, unknown ones are
//   ignored
//
// Anything else: specialise JsonCodec<T> with `write` and `read`.

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <easyretry/json_fields.h>
#include <easyretry/json_text.h>

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

// Plain constants, because a compiler explains a failed concept at length and a failed constant in one line.
template <class T>
inline constexpr bool kWritable = JsonWritable<T>;
template <class T>
inline constexpr bool kReadable = JsonReadable<T>;

template <class Type, bool convertible>
constexpr void require_json() {
  static_assert(convertible,
                "easyretry: this type has no JSON conversion; add EASYRETRY_JSON(Type, fields...) beside it");
}

template <class Fields>
struct FieldTypes;
template <class... Class, class... Member>
struct FieldTypes<std::tuple<JsonField<Class, Member>...>> {
  static constexpr bool kAllWritable = (kWritable<Member> && ...);
  static constexpr bool kAllReadable = (kReadable<Member> && ...);
  static constexpr void require_writable() { (require_json<Member, kWritable<Member>>(), ...); }
  static constexpr void require_readable() { (require_json<Member, kReadable<Member>>(), ...); }
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// null could not tell an empty optional from one that holds such a value.
template <class T>
inline constexpr bool kMayBeNull = kIsOptional<T> || std::same_as<T, std::monostate> || std::same_as<T, std::nullptr_t>;

template <class T>
concept HasJsonFields = requires {
  easyretry_json_fields(JsonTag<T>{});
};

// The fields by name, as they stand in the text: written in this order, they need not be sorted each time.
template <class... Field>
constexpr auto written_order(const std::tuple<Field...>& fields) {
  const auto names = std::apply(
      [](const Field&... field) { return std::array<std::string_view, sizeof...(Field)>{field.name...}; }, fields);
  std::array<std::size_t, sizeof...(Field)> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  return order;
}

template <class T>
concept JsonInteger = std::integral<T> && !std::same_as<T, bool>;

inline void expect_size(JsonView in, std::size_t size) {
  in.expect(JsonKind::array);
  if (in.size() != size) in.fail("an array of " + std::to_string(size));
}

template <class Range>
void write_array(JsonWriter& out, const Range& items) {
  out.begin_array();
  for (const auto& item : items) JsonCodec<typename Range::value_type>::write(out, item);
  out.end_array();
}

template <class... T>
void write_each(JsonWriter& out, const T&... items) {
  out.begin_array();
  (JsonCodec<T>::write(out, items), ...);
  out.end_array();
}

template <class Tuple, std::size_t... I>
Tuple read_each(JsonView in, std::index_sequence<I...>) {
  expect_size(in, sizeof...(I));
  return Tuple{JsonCodec<std::tuple_element_t<I, Tuple>>::read(in.at(I))...};
}

template <class Map>
struct JsonMapCodec {
  using Value = typename Map::mapped_type;

  static void write(JsonWriter& out, const Map& map) requires JsonWritable<Value> {
    out.begin_object();
    for (const auto& [key, value] : map) {
      out.key(key);
      JsonCodec<Value>::write(out, value);
    }
    out.end_object();
  }
  static Map read(JsonView in) requires JsonReadable<Value> {
    Map map;
    for (const auto [key, value] : in.members()) map.emplace(std::string{key}, JsonCodec<Value>::read(value));
    return map;
  }
};

}  // namespace detail

template <>
struct JsonCodec<bool> {
  static void write(JsonWriter& out, bool value) { out.boolean(value); }
  static bool read(JsonView in) { return in.as_bool(); }
};

template <detail::JsonInteger T>
struct JsonCodec<T> {
  using Limits = std::numeric_limits<T>;

  static void write(JsonWriter& out, T value) {
    if constexpr (std::is_signed_v<T>) {
      out.integer(value);
    } else {
      out.unsigned_integer(value);
    }
  }
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

template <class T, class Allocator>
struct JsonCodec<std::vector<T, Allocator>> {
  static void write(JsonWriter& out, const std::vector<T, Allocator>& items) requires JsonWritable<T> {
    detail::write_array(out, items);
  }
  static std::vector<T, Allocator> read(JsonView in) requires JsonReadable<T> {
    in.expect(JsonKind::array);
    std::vector<T, Allocator> items;
    items.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) items.push_back(JsonCodec<T>::read(in.at(i)));
    return items;
  }
};

template <class T, std::size_t N>
struct JsonCodec<std::array<T, N>> {
  static void write(JsonWriter& out, const std::array<T, N>& items) requires JsonWritable<T> {
    detail::write_array(out, items);
  }
  static std::array<T, N> read(JsonView in) requires JsonReadable<T> {
    return detail::read_each<std::array<T, N>>(in, std::make_index_sequence<N>{});
  }
};

template <class T, class Less, class Allocator>
struct JsonCodec<std::set<T, Less, Allocator>> {
  static void write(JsonWriter& out, const std::set<T, Less, Allocator>& items) requires JsonWritable<T> {
    detail::write_array(out, items);
  }
  static std::set<T, Less, Allocator> read(JsonView in) requires JsonReadable<T> {
    in.expect(JsonKind::array);
    std::set<T, Less, Allocator> items;
    for (std::size_t i = 0; i < in.size(); ++i) items.insert(JsonCodec<T>::read(in.at(i)));
    return items;
  }
};

template <class T, class Less, class Allocator>
struct JsonCodec<std::map<std::string, T, Less, Allocator>>
    : detail::JsonMapCodec<std::map<std::string, T, Less, Allocator>> {};
template <class T, class Hash, class Equal, class Allocator>
struct JsonCodec<std::unordered_map<std::string, T, Hash, Equal, Allocator>>
    : detail::JsonMapCodec<std::unordered_map<std::string, T, Hash, Equal, Allocator>> {};

template <class A, class B>
struct JsonCodec<std::pair<A, B>> {
  static void write(JsonWriter& out, const std::pair<A, B>& value) requires(JsonWritable<A>&& JsonWritable<B>) {
    detail::write_each(out, value.first, value.second);
  }
  static std::pair<A, B> read(JsonView in) requires(JsonReadable<A>&& JsonReadable<B>) {
    return detail::read_each<std::pair<A, B>>(in, std::make_index_sequence<2>{});
  }
};

template <class... T>
struct JsonCodec<std::tuple<T...>> {
  static void write(JsonWriter& out, const std::tuple<T...>& value) requires(JsonWritable<T>&&...) {
    std::apply([&out](const T&... items) { detail::write_each(out, items...); }, value);
  }
  static std::tuple<T...> read(JsonView in) requires(JsonReadable<T>&&...) {
    return detail::read_each<std::tuple<T...>>(in, std::index_sequence_for<T...>{});
  }
};

template <>
struct JsonCodec<std::nullptr_t> {
  static void write(JsonWriter& out, std::nullptr_t) { out.null(); }
  static std::nullptr_t read(JsonView in) {
    in.expect(JsonKind::null);
    return nullptr;
  }
};

template <>
struct JsonCodec<std::monostate> {
  static void write(JsonWriter& out, std::monostate) { out.null(); }
  static std::monostate read(JsonView in) {
    in.expect(JsonKind::null);
    return {};
  }
};

template <class T>
requires(!detail::kMayBeNull<T>) struct JsonCodec<std::optional<T>> {
  static void write(JsonWriter& out, const std::optional<T>& value) requires JsonWritable<T> {
    if (value) {
      JsonCodec<T>::write(out, *value);
    } else {
      out.null();
    }
  }
  static std::optional<T> read(JsonView in) requires JsonReadable<T> {
    if (in.is_null()) return std::nullopt;
    return JsonCodec<T>::read(in);
  }
};

template <class... T>
struct JsonCodec<std::variant<T...>> {
  using Variant = std::variant<T...>;

  static void write(JsonWriter& out, const Variant& value) requires(JsonWritable<T>&&...) {
    out.begin_array();
    out.unsigned_integer(value.index());
    std::visit([&out]<class U>(const U& held) { JsonCodec<U>::write(out, held); }, value);
    out.end_array();
  }
  static Variant read(JsonView in) requires(JsonReadable<T>&&...) {
    detail::expect_size(in, 2);
    const std::uint64_t index = in.at(0).as_uint();
    if (index >= sizeof...(T)) in.at(0).fail("an index below " + std::to_string(sizeof...(T)));
    return read_alternative(index, in.at(1), std::index_sequence_for<T...>{});
  }

 private:
  template <std::size_t... I>
  static Variant read_alternative(std::size_t index, JsonView in, std::index_sequence<I...>) {
    using Read = Variant (*)(JsonView);
    static constexpr Read kReaders[] = {[](JsonView held) {
      return Variant{std::in_place_index<I>, JsonCodec<T>::read(held)};
    }...};
    return kReaders[index](in);
  }
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
  // 2^63 itself does not fit, and its neighbour below is not a double: hence < and long double.
  template <class Integer>
  static bool fits(long double value) {
    using Limits = std::numeric_limits<Integer>;
    return value >= static_cast<long double>(Limits::lowest()) && value < static_cast<long double>(Limits::max()) + 1;
  }
};

template <detail::HasJsonFields T>
struct JsonCodec<T> {
  using Types = detail::FieldTypes<decltype(easyretry_json_fields(JsonTag<T>{}))>;

  static void write(JsonWriter& out, const T& value) {
    Types::require_writable();
    out.begin_object();
    if constexpr (Types::kAllWritable) {
      for_each_field([&](const auto& field) { write_field(out, field.name, value.*field.member); });
    }
    out.end_object();
  }
  static T read(JsonView in) {
    static_assert(std::default_initializable<T>, "easyretry: a type with EASYRETRY_JSON needs a default constructor");
    Types::require_readable();
    in.expect(JsonKind::object);
    T value{};
    if constexpr (Types::kAllReadable) {
      for_each_field([&](const auto& field) { read_field(in, field.name, value.*field.member); });
    }
    return value;
  }

 private:
  static constexpr auto kFields = easyretry_json_fields(JsonTag<T>{});
  static constexpr auto kOrder = detail::written_order(kFields);

  static void for_each_field(auto&& use) { for_each_field(use, std::make_index_sequence<kOrder.size()>{}); }
  template <std::size_t... I>
  static void for_each_field(auto& use, std::index_sequence<I...>) {
    (use(std::get<kOrder[I]>(kFields)), ...);
  }

  template <class Member>
  static void write_field(JsonWriter& out, std::string_view name, const Member& member) {
    if constexpr (detail::kIsOptional<Member>) {
      if (!member) return;
    }
    out.key(name);
    JsonCodec<Member>::write(out, member);
  }

  template <class Member>
  static void read_field(JsonView in, std::string_view name, Member& member) {
    if (const auto found = in.find(name)) {
      member = JsonCodec<Member>::read(*found);
    } else if constexpr (detail::kIsOptional<Member>) {
      member.reset();  // also where the struct gives the field a default: it was empty when it was written
    } else {
      in.fail_missing(name);
    }
  }
};

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
