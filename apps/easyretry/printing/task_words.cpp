#include "printing/task_words.h"

#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "printing/relative_time.h"

namespace easyretry::app {
namespace {

Colour colour_of(const std::string& outcome) {
  if (outcome == "succeeded") return Colour::green;
  if (outcome == "cancelled") return Colour::yellow;
  return Colour::red;
}

}  // namespace

Cell state_cell(const nlohmann::json& task) {
  const std::string state = task.value("state", "");
  const std::string outcome = task.value("outcome", "");
  if (state == "finished") {
    return {outcome + (task.contains("requeued_as") ? ", requeued" : ""), colour_of(outcome)};
  }
  const std::string stage = task.value("stage", "run");
  if (stage != "run") return {state + ": " + stage};
  if (task.value("no_handler", false)) return {state + ", no handler", Colour::yellow};
  return {state};
}

std::string when(const nlohmann::json& task, const char* field, TimePoint now) {
  const std::string time = task.value(field, "");
  return time.empty() ? "" : relative_text(base::parse_time(time), now);
}

}  // namespace easyretry::app
