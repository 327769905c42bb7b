#pragma once
// EASYRETRY_JSON(Order, id, amount) gives a struct a JSON conversion. Place it next to the struct, in the same
// namespace; it may list inherited fields. For a template instance, declare an alias first because of the comma.
//
// It defines a function that returns the names and member pointers, and that argument-dependent lookup finds by the
// type. The tag matches exactly: a derived struct without its own EASYRETRY_JSON does not compile, instead of being
// stored as its base.

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include <easyretry/detail/json_codec.h>
#include <easyretry/detail/json_containers.h>

#pragma GCC visibility push(default)
namespace easyretry {

template <class T>
struct JsonTag {};

template <class Class, class Member>
struct JsonField {
  std::string_view name;
  Member Class::*member;
};

template <class Class, class Member>
constexpr JsonField<Class, Member> json_field(std::string_view name, Member Class::*member) {
  return {name, member};
}

namespace detail {

template <class T>
concept HasJsonFields = requires {
  easyretry_json_fields(JsonTag<T>{});
};
template <class T>
inline constexpr bool kHasJsonFields = HasJsonFields<T>;  // a failed constant is explained in one line

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

#define EASYRETRY_JSON(Type, ...)                                                              \
  [[maybe_unused]] constexpr auto easyretry_json_fields(::easyretry::JsonTag<Type>) {          \
    return std::make_tuple(__VA_OPT__(EASYRETRY_EXPAND(EASYRETRY_FIELDS(Type, __VA_ARGS__)))); \
  }                                                                                            \
  static_assert(::easyretry::detail::kHasJsonFields<Type>,                                     \
                "easyretry: EASYRETRY_JSON(" #Type                                             \
                ", ...) must be in the namespace of its type; move it next to the type");

// A macro cannot expand itself, so the rest of the list is left as EASYRETRY_FIELDS_AGAIN () (…) for the next scan.
// Three levels of four scans make 85 scans: room for 86 fields.
#define EASYRETRY_FIELDS(Type, field, ...) \
  ::easyretry::json_field(#field, &Type::field) __VA_OPT__(, EASYRETRY_FIELDS_AGAIN EASYRETRY_PARENS(Type, __VA_ARGS__))
#define EASYRETRY_FIELDS_AGAIN() EASYRETRY_FIELDS
#define EASYRETRY_PARENS ()
#define EASYRETRY_EXPAND(...) EASYRETRY_EXPAND2(EASYRETRY_EXPAND2(EASYRETRY_EXPAND2(EASYRETRY_EXPAND2(__VA_ARGS__))))
#define EASYRETRY_EXPAND2(...) EASYRETRY_EXPAND1(EASYRETRY_EXPAND1(EASYRETRY_EXPAND1(EASYRETRY_EXPAND1(__VA_ARGS__))))
#define EASYRETRY_EXPAND1(...) EASYRETRY_EXPAND0(EASYRETRY_EXPAND0(EASYRETRY_EXPAND0(EASYRETRY_EXPAND0(__VA_ARGS__))))
#define EASYRETRY_EXPAND0(...) __VA_ARGS__
