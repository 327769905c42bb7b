#include <easyretry/task.h>

namespace easyretry {

std::string to_string(TaskId id) {
  return std::to_string(static_cast<std::int64_t>(id));
}

std::string_view to_string(TaskState state) {
  switch (state) {
    case TaskState::pending: return "PENDING";
    case TaskState::running: return "RUNNING";
    case TaskState::finished: return "FINISHED";
  }
  return "UNKNOWN";
}

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::run: return "RUN";
    case Stage::on_success: return "ON_SUCCESS";
    case Stage::on_final_failure: return "ON_FINAL_FAILURE";
  }
  return "UNKNOWN";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::succeeded: return "SUCCEEDED";
    case Outcome::exhausted: return "EXHAUSTED";
    case Outcome::rejected: return "REJECTED";
    case Outcome::quarantined: return "QUARANTINED";
    case Outcome::parked: return "PARKED";
    case Outcome::cancelled: return "CANCELLED";
  }
  return "UNKNOWN";
}

}  // namespace easyretry
