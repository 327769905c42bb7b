#pragma once
// EASYRETRY_JSON(Order, id, amount) gives a struct a JSON conversion. Place it next to the struct, in the same
// namespace; it may list inherited fields. For a template instance, declare an alias first because of the comma.
//
// It defines a function that returns the names and member pointers, and that argument-dependent lookup finds by the
// type. The tag matches exactly: a derived struct without its own EASYRETRY_JSON does not compile, instead of being
// stored as its base.

#include <string_view>
#include <tuple>

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

}  // namespace detail
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
