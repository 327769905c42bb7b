#pragma once
// Names of hosts, as they stand in URLs and lists. Pure.

#include <string>
#include <string_view>

namespace easyretry::webhook {

std::string lower_case(std::string_view ascii);

// Letters, digits, dashes, underscores and single dots between them. Not the dot at the end that DNS allows: one name
// would have two texts.
bool is_host_name(std::string_view text);

}  // namespace easyretry::webhook
