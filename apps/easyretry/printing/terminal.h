#pragma once
// The terminal: the abilities of stdout, text that is safe to show, a progress bar and questions to the user.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace easyretry::app {

enum class Colour { none, green, yellow, red, faint };

struct Terminal {
  std::size_t width = 120;  // if stdout is not a terminal
  bool colours = false;
};

// Colours only on a terminal, not on a dumb one, and not with NO_COLOR in the environment.
Terminal stdout_terminal();

// Removes control characters that a terminal would obey: errors and keys cannot be trusted. This function and
// those below need a UTF-8 locale.
std::string printable(std::string_view text);

// The width in columns: a Chinese character takes two.
std::size_t width_of(std::string_view text);

// Text that is too wide is cut and ends with …; `text` must be printable.
std::string cut_to(std::string_view text, std::size_t width);

std::string coloured(const Terminal& terminal, Colour colour, std::string_view text);

// A progress bar on stderr with the estimated time left. Shown only on a terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t expected, const std::string& text) const;

 private:
  std::string time_left(double part) const;

  const bool visible_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

// Asks on the terminal and returns if the answer is yes. Throws std::runtime_error otherwise, and if stdin is not a
// terminal.
void require_yes(const std::string& question);

}  // namespace easyretry::app
