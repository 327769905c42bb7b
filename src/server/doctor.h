#pragma once
// The checks of a namespace: is it healthy, and if not, what has to be done? For GET /v1/doctor and `easyretry doctor`.

#include <map>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

#include "server/namespace.h"

namespace easyretry::server {

enum class Health { ok, warn, fail };
std::string_view to_string(Health health);  // "ok"

struct Finding {
  Health health = Health::ok;
  std::string check;   // "clock"
  std::string what{};  // "within a second of the store's"
  std::string todo{};  // empty if there is nothing to do; commands are in backticks: `easyretry handlers`
  std::string code{};  // for a check that a daemon makes of itself: names the sentence in `what`, for other languages
  // The values in that sentence, as text without words of a language: durations are milliseconds.
  std::map<std::string, std::string> values{};
  std::vector<std::map<std::string, std::string>> items{};  // the handlers, circuits or limits in it
};

using Findings = std::vector<Finding>;

// How late due tasks may be before that is a problem.
struct Lateness {
  Millis warn_above{};
  Millis fail_above{};
};

// How long tasks have been due, by handler; without handlers that are paused.
struct Late {
  std::map<std::string, Millis> handlers{};
  bool complete = true;  // false: there may be others
};
Finding late_tasks(const Late& late, const Lateness& bounds, const std::string& todo);

// The instances that this one sees, and the tasks that are late. Waits for the store.
Findings check_instances(Namespace& name_space, const ClusterView& cluster, const Lateness& bounds);

// Problems with the tasks. `runs_tasks`: this process runs tasks, or knows which instances do; otherwise it cannot tell
// which handlers are served. Throws StoreError.
Findings check_tasks(Namespace& name_space, bool runs_tasks);

}  // namespace easyretry::server
