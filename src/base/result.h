#pragma once
// A value, or the reason why there is none. Public functions throw instead (StoreError), so this is not in a public
// header, and applications do not compile tl::expected.

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include <easyretry/error.h>

namespace easyretry {

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Errc code, std::string_view where, std::string detail) {
  return tl::make_unexpected(Error{code, std::string{where}, std::move(detail)});
}

}  // namespace easyretry
