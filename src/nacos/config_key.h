#pragma once

#include <compare>
#include <string>

namespace easyretry::nacos {

// Within the client's namespace.
struct ConfigKey {
  std::string data_id;
  std::string group = "DEFAULT_GROUP";

  friend auto operator<=>(const ConfigKey&, const ConfigKey&) = default;
};

}  // namespace easyretry::nacos
