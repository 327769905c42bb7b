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

void ProgressBar::show(std::int64_t done, std::int64_t expected, const std::string& words) const {
  constexpr std::size_t kWidth = 30;
  if (!visible_) return;
  const double part = expected == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(expected));
  const auto filled = static_cast<std::size_t>(part * kWidth);
  std::cerr << fmt::format("\r[{}{}] {:>3.0f} %  {}", std::string(filled, '#'), std::string(kWidth - filled, '.'),
                           part * 100, words)
            << std::flush;
}

}  // namespace easyretry::app
