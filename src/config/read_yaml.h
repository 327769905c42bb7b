#pragma once

#include <string_view>

#include "config/node.h"
#include "config/problems.h"

namespace easyretry::config {

inline constexpr std::size_t kLargestFile = 1'048'576;  // bytes; a thousand handlers take a tenth of it

// The text as nodes, `nothing` where it is empty or is not YAML; then `problems` says why. Aliases are not followed, so
// the nodes are never more than the text has characters. The source must outlive the node.
Node read_yaml(std::string_view text, std::string_view source, Problems& problems);

}  // namespace easyretry::config
