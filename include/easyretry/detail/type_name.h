#pragma once
// The name of a type as the compiler spells it, for messages. Not for use by applications.

#include <string_view>

#pragma GCC visibility push(default)
namespace easyretry::detail {

std::string_view type_name_in(std::string_view function_signature);

template <class E>
std::string_view signature_with_type() {
  return __PRETTY_FUNCTION__;
}

template <class E>
std::string_view type_name() {
  return type_name_in(signature_with_type<E>());
}

}  // namespace easyretry::detail
#pragma GCC visibility pop
