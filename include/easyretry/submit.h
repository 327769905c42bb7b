#pragma once
// What a task is known by, besides its arguments.

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <easyretry/task.h>

namespace easyretry {

enum class OnDuplicate {
  keep,           // the task that is there stays as it is, and its id is returned
  update_policy,  // as keep, and it goes on by the policy given now
  reject,         // DuplicateTask is thrown and nothing is stored
};

struct SubmitOptions {
  // One live task per key: storing the same key again returns the task that is there. Empty: the handler's name and a
  // hash of the arguments.
  std::string key{};
  OnDuplicate on_duplicate = OnDuplicate::keep;
  std::string business_type{};  // both are indexed for search, and tasks of one business_id share a shard
  std::string business_id{};
  std::vector<std::string> tags{};      // up to 8, of up to 64 bytes
  std::string traceparent{};            // W3C trace context, handed to the handler as info.traceparent
  std::optional<TimePoint> deadline{};  // instead of the policy's
  std::optional<TimePoint> due_at{};    // not before; submit_at and submit_after say it for one task
};

// A live task has this key, and OnDuplicate::reject was asked for. Nothing was stored.
class DuplicateTask : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

struct Submission {
  std::string payload;
  SubmitOptions options;
  Millis delay{0};      // where options.due_at says nothing
  int attempts = 0;     // made already, by the caller
  std::string error{};  // what the last of them failed with
};

}  // namespace detail
}  // namespace easyretry
