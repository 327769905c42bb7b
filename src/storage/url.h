#pragma once
// A store's address: scheme:path?option=value&option=value.

#include <string_view>

#include "base/url.h"
#include "storage/history.h"

namespace easyretry::storage {

using StoreUrl = base::Url;
using base::refuse_word;
using base::without_password;

// Throws std::invalid_argument that says what is wrong, with the url but without its password.
StoreUrl parse_store_url(std::string_view url);

// One option of a url. Each function throws std::invalid_argument if the value is of another kind.
struct UrlOption {
  std::string_view url;
  std::string_view name;
  std::string_view value;

  int number(int least, int most) const;
  bool yes() const;
  History history() const;
  int shards() const;
};

}  // namespace easyretry::storage
