#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace easyretry::app {

// One line on stderr that grows and says how long it will take, on a terminal; nothing elsewhere.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t expected, const std::string& words) const;

 private:
  std::string time_left(double part) const;

  const bool visible_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace easyretry::app
