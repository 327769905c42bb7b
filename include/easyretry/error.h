#pragma once
// Errors, named by what the caller should do next.

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#pragma GCC visibility push(default)
namespace easyretry {

enum class Errc {
  not_found,
  already_exists,
  invalid_argument,  // the request itself is wrong; do not retry it
  conflict,          // another client changed it first; read it again
  unavailable,       // nothing was done; safe to retry
  in_doubt,          // it may or may not have been done; check before retrying
};

std::string_view to_string(Errc code);

struct Error {
  Errc code;
  std::string where;   // "sqlite.claim"
  std::string detail;  // what happened and what to do about it
};

std::string to_string(const Error& error);

// Thrown by the public API when the store fails. An ignored return value would be a lost task; an exception cannot be
// ignored.
class StoreError : public std::runtime_error {
 public:
  explicit StoreError(Error error) : std::runtime_error(to_string(error)), error_(std::move(error)) {}
  Errc code() const noexcept { return error_.code; }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

}  // namespace easyretry
#pragma GCC visibility pop
