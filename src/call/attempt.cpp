#include <easyretry/attempt.h>

namespace easyretry {

std::string_view to_string(AttemptState state) {
  switch (state) {
    case AttemptState::succeeded: return "succeeded";
    case AttemptState::stored: return "stored";
    case AttemptState::retrying: return "retrying";
    case AttemptState::failed: return "failed";
  }
  return "unknown";
}

namespace detail {

void AttemptBase::no_value() const {
  std::string text = "easyretry: this call has no value yet";
  if (state_ == AttemptState::stored) text += "; it failed and was stored as task " + to_string(task_);
  if (state_ == AttemptState::retrying) text += "; it failed and is retried in memory";
  if (why_) text += ": " + why_->message;
  throw NoValueYet(text);
}

}  // namespace detail
}  // namespace easyretry
