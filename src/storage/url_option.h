#pragma once
// One option of a store's url, read as what it should be. What it is not throws std::invalid_argument.

#include <string_view>

#include "storage/history.h"

namespace easyretry::storage {

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
