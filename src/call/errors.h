#pragma once

#include <utility>

#include <easyretry/submit.h>

#include "base/result.h"

namespace easyretry::call {

// The value of the result; throws its error as the public API does.
template <class T>
T value_or_throw(Result<T> result) {
  if (result) return std::move(*result);
  if (result.error().code == Errc::already_exists) throw DuplicateTask(to_string(result.error()));
  throw StoreError(std::move(result.error()));
}

}  // namespace easyretry::call
