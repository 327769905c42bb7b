#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::alert {

// Whether any of the patterns is this name; * stands for any characters, also none.
bool matches(const std::vector<std::string>& patterns, std::string_view name);

}  // namespace easyretry::alert
