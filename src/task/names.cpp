#include <array>

#include "task/record.h"

namespace easyretry {

std::string to_string(TaskId id) {
  return std::to_string(static_cast<std::int64_t>(id));
}

std::string_view to_string(TaskState state) {
  switch (state) {
    case TaskState::pending: return "pending";
    case TaskState::running: return "running";
    case TaskState::finished: return "finished";
  }
  return "unknown";
}

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::run: return "run";
    case Stage::on_success: return "on_success";
    case Stage::on_final_failure: return "on_final_failure";
  }
  return "unknown";
}

std::string_view to_string(ListOrder order) {
  return order == ListOrder::newest_first ? "newest" : "oldest";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::succeeded: return "succeeded";
    case Outcome::exhausted: return "exhausted";
    case Outcome::rejected: return "rejected";
    case Outcome::quarantined: return "quarantined";
    case Outcome::parked: return "parked";
    case Outcome::cancelled: return "cancelled";
  }
  return "unknown";
}

std::string_view to_string(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::succeeded: return "succeeded";
    case AttemptEnd::failed: return "failed";
    case AttemptEnd::crashed: return "crashed";
    case AttemptEnd::lost: return "lost";
  }
  return "unknown";
}

std::string_view to_string(TaskClass task_class) {
  switch (task_class) {
    case TaskClass::normal: return "normal";
    case TaskClass::urgent: return "urgent";
    case TaskClass::background: return "background";
  }
  return "unknown";
}

std::string_view to_string(WaitEnd end) {
  switch (end) {
    case WaitEnd::ended: return "ended";
    case WaitEnd::timeout: return "timeout";
    case WaitEnd::gone: return "gone";
    case WaitEnd::unknown: return "unknown";
    case WaitEnd::stopped: return "stopped";
  }
  return "unknown";
}

}  // namespace easyretry

namespace easyretry::task {
namespace {

constexpr std::array kStates{TaskState::pending, TaskState::running, TaskState::finished};
constexpr std::array kStages{Stage::run, Stage::on_success, Stage::on_final_failure};
constexpr std::array kOutcomes{Outcome::succeeded,   Outcome::exhausted, Outcome::rejected,
                               Outcome::quarantined, Outcome::parked,    Outcome::cancelled};
constexpr std::array kClasses{TaskClass::normal, TaskClass::urgent, TaskClass::background};
constexpr std::array kAttemptEnds{AttemptEnd::succeeded, AttemptEnd::failed, AttemptEnd::crashed, AttemptEnd::lost};

template <class Enum, std::size_t n>
std::optional<Enum> named(const std::array<Enum, n>& all, std::string_view name) {
  for (const Enum one : all) {
    if (to_string(one) == name) return one;
  }
  return std::nullopt;
}

}  // namespace

std::string_view stored_name(TaskState state) {
  switch (state) {
    case TaskState::pending: return "PENDING";
    case TaskState::running: return "RUNNING";
    case TaskState::finished: return "FINISHED";
  }
  return "UNKNOWN";
}

std::string_view stored_name(Stage stage) {
  switch (stage) {
    case Stage::run: return "RUN";
    case Stage::on_success: return "ON_SUCCESS";
    case Stage::on_final_failure: return "ON_FINAL_FAILURE";
  }
  return "UNKNOWN";
}

std::string_view stored_name(Outcome outcome) {
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

std::optional<TaskState> state_named(std::string_view name) {
  return named(kStates, name);
}
std::optional<Stage> stage_named(std::string_view name) {
  return named(kStages, name);
}
std::optional<Outcome> outcome_named(std::string_view name) {
  return named(kOutcomes, name);
}

std::optional<AttemptEnd> attempt_end_named(std::string_view name) {
  return named(kAttemptEnds, name);
}

std::optional<TaskClass> class_named(std::string_view name) {
  return named(kClasses, name);
}

std::span<const Outcome> all_outcomes() {
  return kOutcomes;
}

}  // namespace easyretry::task
