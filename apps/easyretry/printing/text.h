#pragma once
// Values as the commands print them.

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include <easyretry/time.h>

#include "base/duration_text.h"
#include "printing/table.h"
#include "printing/terminal.h"

namespace easyretry::app {

using base::age_text;

// "in 3 min", "2 h ago", "now".
std::string relative_text(TimePoint time, TimePoint now);

// On one line, with all control characters escaped: safe on a terminal, whatever keys and errors contain.
std::string json_text(const nlohmann::json& value);

// The state or outcome of a task in the API's form: "running", "pending: on_success", "pending, no handler",
// "exhausted".
Cell state_cell(const nlohmann::json& task);

// "in 3 min"; empty if the task does not have this time.
std::string when(const nlohmann::json& task, const char* field, TimePoint now);

// Prints labelled values, one per line; empty values are left out.
class FieldPrinter {
 public:
  void line(std::string_view label, const std::string& value, Colour colour = Colour::none) const {
    if (value.empty()) return;
    fmt::print("{}{}\n", coloured(terminal_, Colour::faint, fmt::format("{:<14}", label)),
               coloured(terminal_, colour, printable(value)));
  }

 private:
  const Terminal terminal_ = stdout_terminal();
};

}  // namespace easyretry::app
