#pragma once
// Tasks in requests to a daemon and in its responses.
//
// For the daemon, sealed arguments and results are opaque: they are sent as JSON strings, and unwrapped by engines that
// have the keys.

#include <span>
#include <string>
#include <vector>

#include <easyretry/detail/json_text.h>

#include "storage/store.h"

namespace easyretry::remote {

// The body of a request for some of the items, in their order.
struct Piece {
  std::size_t count = 0;
  std::string body;
};

// As few pieces as possible, none longer than `most_bytes` unless one item alone is.
std::vector<Piece> task_pieces(std::span<const task::NewTask> tasks, std::size_t most_bytes);
std::vector<Piece> settlement_pieces(std::span<const task::Settlement> settlements, std::size_t most_bytes);
std::vector<Piece> renewal_pieces(std::span<const storage::Renewal> renewals, std::size_t most_bytes);
std::string rules_text(const task::RetryRules& rules);
// The body of a request to complete a task, or to fail it.
std::string ending_text(const task::Ending& ending);
// Arguments as a JSON array. Without any the new task has those of the ended one, and likewise its class.
std::string requeue_text(std::optional<std::string_view> arguments, std::optional<TaskClass> as);

// These throw JsonError for anything but a task. `sealed`: this engine has keys, so sealed texts are unwrapped.
task::TaskRecord read_task(JsonView object, bool sealed);
storage::Inserted read_inserted(JsonView object);

// These throw JsonError, too.
TaskId read_id(JsonView text);
TimePoint read_time(JsonView text);
JsonView need(JsonView object, std::string_view key);

}  // namespace easyretry::remote
