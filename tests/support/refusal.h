#pragma once
// The message of the exception that a call throws, for tests of error messages.

#include <concepts>
#include <exception>
#include <string>

namespace easyretry::test {

template <std::derived_from<std::exception> Thrown = std::exception, class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace easyretry::test
