#include "printing/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <cwchar>
#include <cwctype>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/harmless.h"

namespace easyretry::app {
namespace {

struct Character {
  std::string_view bytes;
  wchar_t code = 0;
};

// The first character of a text that is not empty; U+FFFD for a byte that does not begin a character.
Character next_character(std::string_view text) {
  std::mbstate_t state{};
  wchar_t code = 0;
  const std::size_t size = std::mbrtowc(&code, text.data(), text.size(), &state);
  if (size == 0 || size > text.size()) return {text.substr(0, 1), L'\uFFFD'};
  return {text.substr(0, size), code};
}

std::size_t width_of(wchar_t code) {
  const int width = ::wcwidth(code);
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb() {
  const char* kind = std::getenv("TERM");
  return kind == nullptr || std::string_view{kind} == "dumb";
}

}  // namespace

Terminal stdout_terminal() {
  Terminal terminal;
  if (isatty(STDOUT_FILENO) == 0) return terminal;
  terminal.colours = !is_set("NO_COLOR") && !is_dumb();
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.width = size.ws_col;
  return terminal;
}

std::string printable(std::string_view text) {
  const std::string harmless = base::one_line(text);
  std::string shown;
  for (std::string_view rest = harmless; !rest.empty();) {
    const Character one = next_character(rest);
    rest.remove_prefix(one.bytes.size());
    shown.append(std::iswprint(static_cast<std::wint_t>(one.code)) != 0 ? one.bytes : " ");
  }
  return shown;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character one = next_character(text);
    text.remove_prefix(one.bytes.size());
    width += width_of(one.code);
  }
  return width;
}

std::string cut_to(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string{text};
  if (width == 0) return {};
  std::string cut;
  for (std::size_t used = 1; !text.empty();) {  // 1: for the …
    const Character one = next_character(text);
    used += width_of(one.code);
    if (used > width) break;
    cut.append(one.bytes);
    text.remove_prefix(one.bytes.size());
  }
  return cut + "…";
}

std::string coloured(const Terminal& terminal, Colour colour, std::string_view text) {
  if (!terminal.colours || colour == Colour::none || text.empty()) return std::string{text};
  const char* code = colour == Colour::green    ? "32"
                     : colour == Colour::yellow ? "33"
                     : colour == Colour::red    ? "31"
                                                : "2";
  return std::string{"\x1b["} + code + "m" + std::string{text} + "\x1b[0m";
}

ProgressBar::ProgressBar() : visible_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (visible_) std::cerr << "\n";
}

// Estimated from the pace so far; empty at the beginning and at the end.
std::string ProgressBar::time_left(double part) const {
  if (part <= 0 || part >= 1) return "";
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
  return fmt::format(", {:.0f} s left", passed.count() / part * (1 - part));
}

void ProgressBar::show(std::int64_t done, std::int64_t expected, const std::string& text) const {
  constexpr std::size_t kWidth = 30;
  if (!visible_) return;
  const double part = expected == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(expected));
  const auto filled = static_cast<std::size_t>(part * kWidth);
  // Padded to the longest time, so that it overwrites the previous line completely.
  std::cerr << fmt::format("\r[{}{}] {:>3.0f} %  {}{:<14}", std::string(filled, '#'), std::string(kWidth - filled, '.'),
                           part * 100, text, time_left(part))
            << std::flush;
}

void require_yes(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0) {
    throw std::runtime_error(question + " there is no terminal to ask; use --yes, or check first with --dry-run");
  }
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes") throw std::runtime_error("nothing was done");
}

}  // namespace easyretry::app
