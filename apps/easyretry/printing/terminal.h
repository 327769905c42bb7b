#pragma once
// What stdout can show, and text as it may be shown there.

#include <cstddef>
#include <string>
#include <string_view>

namespace easyretry::app {

enum class Colour { none, green, yellow, red, faint };

struct Terminal {
  std::size_t width = 120;  // where it is none
  bool colours = false;
};

// Colours: only on a terminal, and neither with NO_COLOR in the environment nor on a dumb one.
Terminal stdout_terminal();

// Without what a terminal would obey: errors and keys come from elsewhere. Needs a locale that knows UTF-8, as all of
// these.
std::string printable(std::string_view text);

// In columns: a Chinese character takes two.
std::size_t width_of(std::string_view text);

// What is too wide ends with …; `text` is printable.
std::string cut_to(std::string_view text, std::size_t width);

std::string coloured(const Terminal& terminal, Colour colour, std::string_view text);

}  // namespace easyretry::app
