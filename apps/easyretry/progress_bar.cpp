#include "progress_bar.h"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace easyretry::app {

ProgressBar::ProgressBar() : visible_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (visible_) std::cerr << "\n";
}

// At the pace so far; nothing where there is none yet, or no end to foresee.
std::string ProgressBar::time_left(double part) const {
  if (part <= 0 || part >= 1) return "";
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
  return fmt::format(", {:.0f} s left", passed.count() / part * (1 - part));
}

void ProgressBar::show(std::int64_t done, std::int64_t expected, const std::string& words) const {
  constexpr std::size_t kWidth = 30;
  if (!visible_) return;
  const double part = expected == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(expected));
  const auto filled = static_cast<std::size_t>(part * kWidth);
  // As wide as it may get, so that nothing is left of a longer one before.
  std::cerr << fmt::format("\r[{}{}] {:>3.0f} %  {}{:<14}", std::string(filled, '#'), std::string(kWidth - filled, '.'),
                           part * 100, words, time_left(part))
            << std::flush;
}

}  // namespace easyretry::app
