#pragma once
// Tasks as they travel between an engine and a daemon.
//
// Sealed arguments and results are opaque texts to the daemon: it stores them as JSON strings, and whoever has the keys
// takes them out again.

#include <span>
#include <string>

#include <easyretry/json_text.h>

#include "storage/store.h"

namespace easyretry::remote {

std::string tasks_text(std::span<const task::NewTask> tasks);
std::string settlements_text(std::span<const task::Settlement> settlements);
std::string rules_text(const task::RetryRules& rules);
std::string renewals_text(std::span<const storage::Renewal> renewals);

// These throw JsonError for what is no task. `sealed`: this engine has keys, and a sealed text is to be taken out.
task::TaskRecord read_task(JsonView object, bool sealed);
storage::Inserted read_inserted(JsonView object);

// These, too.
TaskId read_id(JsonView text);
TimePoint read_time(JsonView text);
JsonView need(JsonView object, std::string_view key);

}  // namespace easyretry::remote
