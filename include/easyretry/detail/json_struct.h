#pragma once
// JsonCodec for structs with EASYRETRY_JSON.

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <easyretry/detail/json_codec.h>
#include <easyretry/detail/json_containers.h>
#include <easyretry/detail/json_fields.h>

#pragma GCC visibility push(default)
namespace easyretry {

namespace detail {

template <class Fields>
struct FieldTypes;
template <class... Class, class... Member>
struct FieldTypes<std::tuple<JsonField<Class, Member>...>> {
  static constexpr bool kAllWritable = (kWritable<Member> && ...);
  static constexpr bool kAllReadable = (kReadable<Member> && ...);
  static constexpr void require_writable() { (require_json<Member, kWritable<Member>>(), ...); }
  static constexpr void require_readable() { (require_json<Member, kReadable<Member>>(), ...); }
};

// The fields in order of their names, as the text has them: written in this order, they need no sorting each time.
template <class... Field>
constexpr auto written_order(const std::tuple<Field...>& fields) {
  const auto names = std::apply(
      [](const Field&... field) { return std::array<std::string_view, sizeof...(Field)>{field.name...}; }, fields);
  std::array<std::size_t, sizeof...(Field)> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = 1; i < order.size(); ++i) {  // by insertion: <algorithm> costs a file more than a few fields do
    for (std::size_t j = i; j > 0 && names[order[j]] < names[order[j - 1]]; --j) std::swap(order[j], order[j - 1]);
  }
  return order;
}

}  // namespace detail

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
      member.reset();  // even if the struct gives the field a default: it was empty when it was written
    } else {
      in.fail_missing(name);
    }
  }
};

}  // namespace easyretry
#pragma GCC visibility pop
