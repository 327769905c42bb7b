#pragma once

#include <chrono>

namespace easyretry::app {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }
  double per_second(std::size_t n) const { return static_cast<double>(n) / seconds(); }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace easyretry::app
