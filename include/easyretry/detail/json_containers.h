#pragma once
// JsonCodec for containers and other types that hold values.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <easyretry/detail/json_codec.h>

#pragma GCC visibility push(default)
namespace easyretry {

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Types that may be null themselves: in an optional of one, null could mean both an empty optional and a null value.
template <class T>
inline constexpr bool kMayBeNull = kIsOptional<T> || std::same_as<T, std::monostate> || std::same_as<T, std::nullptr_t>;

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

template <class Range>
struct JsonSequenceCodec {
  using Value = typename Range::value_type;

  static void write(JsonWriter& out, const Range& items) requires JsonWritable<Value> { write_array(out, items); }
  static Range read(JsonView in) requires JsonReadable<Value> {
    in.expect(JsonKind::array);
    Range items;
    for (std::size_t i = 0; i < in.size(); ++i) items.insert(items.end(), JsonCodec<Value>::read(in.at(i)));
    return items;
  }
};

using ItemsByText = std::vector<std::pair<std::string, const void*>>;
void sort_by_text(ItemsByText& items);

// The elements, sorted by the JSON text of their keys. Unordered containers are written in this order, so that equal
// containers have equal texts.
template <class Range, class KeyOf>
ItemsByText by_text(const Range& items, KeyOf key_of) {
  ItemsByText sorted;
  sorted.reserve(items.size());
  for (const auto& item : items) {
    JsonWriter text;
    JsonCodec<typename Range::key_type>::write(text, key_of(item));
    sorted.emplace_back(text.take(), &item);
  }
  sort_by_text(sorted);
  return sorted;
}

// Maps whose keys are not strings: [[key, value], …].
template <class Map>
struct JsonPairsCodec {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;

  static void write(JsonWriter& out, const Map& map) requires(JsonWritable<Key>&& JsonWritable<Value>) {
    out.begin_array();
    for (const auto& [text, address] : by_text(map, [](const auto& each) -> const Key& { return each.first; })) {
      const auto& item = *static_cast<const typename Map::value_type*>(address);
      write_each(out, item.first, item.second);
    }
    out.end_array();
  }
  static Map read(JsonView in) requires(JsonReadable<Key>&& JsonReadable<Value>) {
    in.expect(JsonKind::array);
    Map map;
    for (std::size_t i = 0; i < in.size(); ++i) {
      expect_size(in.at(i), 2);
      map.emplace(JsonCodec<Key>::read(in.at(i).at(0)), JsonCodec<Value>::read(in.at(i).at(1)));
    }
    return map;
  }
};

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

template <class T, class Allocator>
struct JsonCodec<std::deque<T, Allocator>> : detail::JsonSequenceCodec<std::deque<T, Allocator>> {};
template <class T, class Allocator>
struct JsonCodec<std::list<T, Allocator>> : detail::JsonSequenceCodec<std::list<T, Allocator>> {};
template <class T, class Less, class Allocator>
struct JsonCodec<std::set<T, Less, Allocator>> : detail::JsonSequenceCodec<std::set<T, Less, Allocator>> {};

template <class T, class Hash, class Equal, class Allocator>
struct JsonCodec<std::unordered_set<T, Hash, Equal, Allocator>>
    : detail::JsonSequenceCodec<std::unordered_set<T, Hash, Equal, Allocator>> {
  static void write(JsonWriter& out,
                    const std::unordered_set<T, Hash, Equal, Allocator>& items) requires JsonWritable<T> {
    out.begin_array();
    for (const auto& [text, item] : detail::by_text(items, std::identity{})) {
      JsonCodec<T>::write(out, *static_cast<const T*>(item));
    }
    out.end_array();
  }
};

template <class T, class Less, class Allocator>
struct JsonCodec<std::map<std::string, T, Less, Allocator>>
    : detail::JsonMapCodec<std::map<std::string, T, Less, Allocator>> {};
template <class T, class Hash, class Equal, class Allocator>
struct JsonCodec<std::unordered_map<std::string, T, Hash, Equal, Allocator>>
    : detail::JsonMapCodec<std::unordered_map<std::string, T, Hash, Equal, Allocator>> {};

template <class K, class T, class Less, class Allocator>
requires(!std::same_as<K, std::string>) struct JsonCodec<std::map<K, T, Less, Allocator>>
    : detail::JsonPairsCodec<std::map<K, T, Less, Allocator>> {
};
template <class K, class T, class Hash, class Equal, class Allocator>
requires(!std::same_as<K, std::string>) struct JsonCodec<std::unordered_map<K, T, Hash, Equal, Allocator>>
    : detail::JsonPairsCodec<std::unordered_map<K, T, Hash, Equal, Allocator>> {
};

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

}  // namespace easyretry
#pragma GCC visibility pop
