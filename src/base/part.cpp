#include "base/part.h"

#include <algorithm>

namespace easyretry::base {

std::string missing_part(std::string_view what, std::string_view part) {
  std::string option{part};
  std::ranges::transform(option, option.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  const std::string name{part};
  return "this program was built without " + std::string{what} + "; build EasyRetry with -DEASYRETRY_" + option +
         "=ON, and link easyretry::" + name + ", which find_package(easyretry COMPONENTS " + name + ") finds";
}

}  // namespace easyretry::base
