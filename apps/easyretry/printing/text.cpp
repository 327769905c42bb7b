#include "printing/text.h"

#include <nlohmann/json.hpp>

#include "base/harmless.h"
#include "base/time_text.h"

namespace easyretry::app {
namespace {

Colour colour_of_outcome(const std::string& outcome) {
  if (outcome == "succeeded") return Colour::green;
  if (outcome == "cancelled") return Colour::yellow;
  return Colour::red;
}

}  // namespace

std::string relative_text(TimePoint time, TimePoint now) {
  constexpr Millis kNow{1000};
  if (time >= now + kNow) return "in " + age_text(time - now);
  if (time <= now - kNow) return age_text(now - time) + " ago";
  return "now";
}

std::string json_text(const nlohmann::json& value) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;  // invalid UTF-8
  return base::with_escapes(value.dump(-1, ' ', false, kReplace));
}

Cell state_cell(const nlohmann::json& task) {
  const std::string state = task.value("state", "");
  const std::string outcome = task.value("outcome", "");
  if (state == "finished") {
    return {outcome + (task.contains("requeued_as") ? ", requeued" : ""), colour_of_outcome(outcome)};
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
