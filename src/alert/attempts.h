#pragma once
// How many of a handler's attempts have failed lately: counts in ten parts of the window, of which the oldest falls
// off. One thread.

#include <array>
#include <cstdint>

#include <easyretry/time.h>

namespace easyretry::alert {

class Attempts {
 public:
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t failed = 0;
  };

  explicit Attempts(Millis window) : part_(window / kParts) {}

  void add(bool failed, Instant now);
  Count within_window(Instant now) const;

 private:
  static constexpr int kParts = 10;
  struct Part {
    std::int64_t number = 0;  // since the beginning of time
    Count count{};
  };

  std::int64_t number_at(Instant now) const { return now.time_since_epoch() / part_; }

  const Millis part_;
  std::array<Part, kParts> parts_{};  // by their number, modulo how many there are
};

}  // namespace easyretry::alert
