#pragma once
// Bringing a store to another version of its schema.

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace easyretry::storage {

struct MigrateRequest {
  std::optional<int> to{};  // nothing: the version that this release needs
  bool only_plan = false;   // change nothing
};

struct MigrationPlan {
  int from = 0;                           // 0: there is no store yet
  int to = 0;                             // from: there is nothing to do
  std::vector<std::string> statements{};  // from one to the other, as far as they have not been run yet
};

// The version to go to. Throws std::invalid_argument if there is no way from `from` to the one that was asked for.
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
