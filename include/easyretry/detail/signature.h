#pragma once
// The parameter and result types of a callable. Not for use by applications.

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#pragma GCC visibility push(default)
namespace easyretry::detail {

template <class R, class... A>
struct SignatureOf {
  using Result = R;
  using Arguments = std::tuple<std::decay_t<A>...>;
  // Stored arguments are values: a later attempt has no variable of the caller to change.
  static constexpr bool kChangesArguments =
      ((std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>) || ...);
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> : SignatureOf<R, A...> {};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) noexcept> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const noexcept> : SignatureOf<R, A...> {};

template <class C, class R, class... A>
struct Signature<R (C::*)(A...)&> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const&> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)& noexcept> : SignatureOf<R, A...> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const& noexcept> : SignatureOf<R, A...> {};

template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool kIsReference = false;
template <class T>
inline constexpr bool kIsReference<std::reference_wrapper<T>> = true;

template <class F>
inline constexpr bool kMayBeEmpty = std::is_pointer_v<F> || std::is_member_pointer_v<F> || kIsShared<F>;
template <class S>
inline constexpr bool kMayBeEmpty<std::function<S>> = true;

// An empty function would throw on each later call, or end the process.
template <class F>
void require_callable(const F& function, std::string_view what) {
  if constexpr (kMayBeEmpty<F>) {
    if (!function) throw std::invalid_argument(std::string{what} + " must be callable, but it is empty");
  }
}

// A function pointer, a member function pointer, or an object with exactly one operator().
template <class F>
concept HasOneSignature =
    std::is_function_v<std::remove_pointer_t<F>> || std::is_member_function_pointer_v<F> || requires {
  &F::operator();
};

}  // namespace easyretry::detail
#pragma GCC visibility pop
