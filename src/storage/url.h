#pragma once
// A store's address: scheme:path?option=value&option=value.

#include <string_view>

#include "base/url.h"

namespace easyretry::storage {

using StoreUrl = base::Url;
using base::refuse_word;
using base::without_password;

// Throws std::invalid_argument with the url, but for its password, and what is wrong with it.
StoreUrl parse_store_url(std::string_view url);

}  // namespace easyretry::storage
