#include <array>

#include "task/record.h"

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

namespace easyretry::task {
namespace {

constexpr std::array kStates{TaskState::pending, TaskState::running, TaskState::finished};
constexpr std::array kStages{Stage::run, Stage::on_success, Stage::on_final_failure};
constexpr std::array kOutcomes{Outcome::succeeded,   Outcome::exhausted, Outcome::rejected,
                               Outcome::quarantined, Outcome::parked,    Outcome::cancelled};

std::string small_letters(std::string_view text) {
  std::string small;
  for (const char c : text) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

template <class Enum, std::size_t n>
std::optional<Enum> named(const std::array<Enum, n>& all, std::string_view name) {
  for (const Enum one : all) {
    if (name_of(one) == name) return one;
  }
  return std::nullopt;
}

}  // namespace

std::string name_of(TaskState state) {
  return small_letters(to_string(state));
}
std::string name_of(Stage stage) {
  return small_letters(to_string(stage));
}
std::string name_of(Outcome outcome) {
  return small_letters(to_string(outcome));
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

std::span<const Outcome> all_outcomes() {
  return kOutcomes;
}

}  // namespace easyretry::task
