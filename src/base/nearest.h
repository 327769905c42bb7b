#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace easyretry::base {

// The known word that was probably meant; nullopt if none is similar.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace easyretry::base
