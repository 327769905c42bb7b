#pragma once
// What a check has found.

#include <string>
#include <vector>

namespace easyretry::app {

enum class Health { ok, warn, fail };

struct Finding {
  Health health = Health::ok;
  std::string check;   // "clock"
  std::string what{};  // "within a second of the store's"
  std::string todo{};  // empty where all is well
};

using Findings = std::vector<Finding>;

}  // namespace easyretry::app
