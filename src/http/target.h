#pragma once
// Parses the path and query of a request. Pure.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace easyretry::http {

struct Target {
  std::string path;
  std::vector<std::string> segments;  // of the path, decoded after splitting: "%2F" does not separate segments
  std::map<std::string, std::string> query;
};

// "/v1/tasks?handler=pay%20now". Nullopt if it does not begin with '/', or contains an invalid %-sequence, a NUL, a dot
// segment or invalid UTF-8.
std::optional<Target> parse_target(std::string_view text);

// Nullopt if a '%' is not followed by two hexadecimal digits, and for a NUL or invalid UTF-8.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace easyretry::http
