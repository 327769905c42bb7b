#include "storage/url.h"

#include <stdexcept>

namespace easyretry::storage {
namespace {

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
  throw std::invalid_argument("store url \"" + without_password(url) + "\": " + std::string{why});
}

}  // namespace

StoreUrl parse_store_url(std::string_view url) {
  if (url.find(':') == std::string_view::npos || url.starts_with(':')) {
    refuse(url, "no scheme; write sqlite:retry.db, postgres://user:password@host/database, mysql://… or memory:");
  }
  try {
    return base::split_url(url);
  } catch (const std::invalid_argument& why) {
    refuse(url, why.what());
  }
}

}  // namespace easyretry::storage
