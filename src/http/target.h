#pragma once
// The first line of a request, taken apart. Pure.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace easyretry::http {

struct Target {
  std::string path;
  std::vector<std::string> segments;  // of the path, each decoded by itself: "%2F" parts nothing
  std::map<std::string, std::string> query;
};

// "/v1/tasks?handler=pay%20now". Nullopt: not a path that begins with '/', a broken %-sequence, a NUL, a dot segment or
// what is not UTF-8: somebody is trying something.
std::optional<Target> parse_target(std::string_view text);

// Nullopt: a '%' that is not followed by two hexadecimal digits, a NUL, or what is not UTF-8.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace easyretry::http
