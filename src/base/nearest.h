#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace easyretry::base {

// The word that was probably meant: the nearest of the known ones, unless all are far off.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace easyretry::base
