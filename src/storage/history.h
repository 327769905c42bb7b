#pragma once
// How much of the past a store keeps.

#include <optional>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry::storage {

enum class History {
  none,      // only what nobody decided to end: see keeps()
  failures,  // every outcome but succeeded
  all,
};

std::string_view to_string(History history);
std::optional<History> parse_history(std::string_view text);  // the names above; nullopt for anything else

// Whether a task that ended so is remembered. Quarantined and parked tasks are kept even under `none`: they were never
// done and nobody was told, so history is the only place where they can be found and requeued.
bool keeps(History history, Outcome outcome);

}  // namespace easyretry::storage
