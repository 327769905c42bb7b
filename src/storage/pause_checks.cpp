#include "storage/pause_checks.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace easyretry::storage {
namespace {

bool is_text(std::string_view text) {
  return base::invalid_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos;
}

// Of UTF-8: the bytes that begin one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

}  // namespace

std::optional<Error> refuse_pause(std::string_view space, std::string_view handler, std::string_view why,
                                  std::string_view where) {
  const auto refused = [&](const std::string& because) {
    return Error{Errc::invalid_argument, std::string{where}, because};
  };
  if (space.empty()) return refused("the namespace is empty");
  if (handler.empty() || handler.size() > kLongestHandlerName) {
    return refused("a handler's name has 1 to " + std::to_string(kLongestHandlerName) + " bytes, such as payment.pay");
  }
  if (!is_text(handler)) return refused("a handler's name is UTF-8 text without NUL");
  if (!is_text(why)) return refused("the reason is not UTF-8 text without NUL");
  if (characters(why) > kLongestReason) {
    return refused("the reason has " + std::to_string(characters(why)) + " characters; " +
                   std::to_string(kLongestReason) + " are allowed at most");
  }
  return std::nullopt;
}

Result<bool> answer_of(Pausing pausing, std::string_view where) {
  if (pausing != Pausing::too_many) return pausing == Pausing::done;
  return fail(
      Errc::invalid_argument, where,
      std::to_string(kMostPaused) + " handlers of this namespace are paused, which is the maximum; resume some first");
}

}  // namespace easyretry::storage
