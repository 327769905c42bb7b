#pragma once
// How often a store is asked that has no news of other processes' tasks: often while something comes, and seldom when
// nothing has come for a while. Then an instance that has nothing to do makes less than one request a second in all.

#include <easyretry/time.h>

namespace easyretry::engine {

class Polling {
 public:
  void found(Instant now) { found_ = now; }

  Instant::duration pause(Instant now, Millis poll) const {
    constexpr auto kQuietAfter = std::chrono::seconds{10};
    constexpr int kSeldom = 8;
    return now < found_ + kQuietAfter ? poll : kSeldom * poll;
  }

 private:
  Instant found_{};  // the last time that something had come
};

}  // namespace easyretry::engine
