#include "task/written_names.h"

#include <array>

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
