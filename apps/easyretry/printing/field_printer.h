#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "printing/terminal.h"

namespace easyretry::app {

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
