#pragma once
// Versions of the schema of a store.

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace easyretry::storage {

struct MigrateRequest {
  std::optional<int> to{};  // nullopt: the version that this release needs
  bool only_plan = false;   // change nothing
};

struct MigrationPlan {
  int from = 0;                           // 0: there is no store yet
  int to = 0;                             // equal to `from`: there is nothing to do
  std::vector<std::string> statements{};  // from one to the other, without those that have been run already
};

// The version to migrate to. Throws std::invalid_argument if the requested one cannot be reached from `from`.
inline int target_version(const MigrateRequest& request, int from, int newest) {
  const int to = request.to.value_or(newest);
  if (to > newest) {
    throw std::invalid_argument("this release knows schema versions up to " + std::to_string(newest) + ", not " +
                                std::to_string(to));
  }
  if (to < from) {
    throw std::invalid_argument("the store has schema version " + std::to_string(from) + " and cannot go back to " +
                                std::to_string(to) + "; restore a backup instead");
  }
  return to;
}

}  // namespace easyretry::storage
