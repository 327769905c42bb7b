#include <easyretry/error.h>

namespace easyretry {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::not_found: return "not found";
    case Errc::already_exists: return "already exists";
    case Errc::invalid_argument: return "invalid argument";
    case Errc::conflict: return "conflict";
    case Errc::unavailable: return "unavailable";
    case Errc::in_doubt: return "in doubt";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  return error.where + ": " + std::string{to_string(error.code)} + ": " + error.detail;
}

}  // namespace easyretry
