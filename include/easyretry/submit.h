#pragma once
// Options for storing a task, in addition to its arguments.

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <easyretry/task.h>

namespace easyretry {

enum class OnDuplicate {
  keep,           // the existing task stays unchanged, and its id is returned
  update_policy,  // like keep, but the existing task gets the new policy
  reject,         // DuplicateTask is thrown and nothing is stored
};

struct SubmitOptions {
  // There is one live task per key: submitting the same key again returns the existing task. Empty: the handler's name
  // and a hash of the arguments.
  std::string key{};
  OnDuplicate on_duplicate = OnDuplicate::keep;
  std::string business_type{};  // both are indexed for search; tasks with the same business_id share a shard
  std::string business_id{};
  std::vector<std::string> tags{};      // up to 8, each up to 64 bytes
  std::string traceparent{};            // W3C trace context, passed to the handler as info.traceparent
  std::optional<TimePoint> deadline{};  // instead of the policy's
  std::optional<TimePoint> due_at{};    // does not run before; submit_at and submit_after set it for one task
};

// Thrown with OnDuplicate::reject if a live task has the same key. Nothing was stored.
class DuplicateTask : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

struct Submission {
  std::string payload;
  SubmitOptions options;
  Millis delay{0};      // used if options.due_at is not set
  int attempts = 0;     // already made by the caller
  std::string error{};  // of the last attempt
};

}  // namespace detail
}  // namespace easyretry
