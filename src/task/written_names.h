#pragma once
// States, stages and outcomes as JSON and people write them: their names in small letters.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry::task {

std::string name_of(TaskState state);
std::string name_of(Stage stage);
std::string name_of(Outcome outcome);

// Nullopt: nothing has that name.
std::optional<TaskState> state_named(std::string_view name);
std::optional<Stage> stage_named(std::string_view name);
std::optional<Outcome> outcome_named(std::string_view name);

std::span<const Outcome> all_outcomes();

}  // namespace easyretry::task
