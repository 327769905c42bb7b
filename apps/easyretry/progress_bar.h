#pragma once

#include <cstdint>
#include <string>

namespace easyretry::app {

// One line on stderr that grows, on a terminal; nothing elsewhere.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t expected, const std::string& words) const;

 private:
  const bool visible_;
};

}  // namespace easyretry::app
