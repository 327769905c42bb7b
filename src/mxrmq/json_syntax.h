#pragma once

#include <cstddef>
#include <string_view>

namespace easyretry::mxrmq {

inline constexpr std::size_t kDeepest = 200;  // levels; Python reads no deeper, either

// Whether it is one JSON value. Unlike a parser that makes numbers of numbers, it minds no number of any size: Python
// writes integers with as many digits as they have.
bool is_json(std::string_view text);

}  // namespace easyretry::mxrmq
