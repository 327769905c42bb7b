#pragma once
// Finds and repairs what workers that died at the wrong moment left in a queue, while others use it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <easyretry/time.h>

#include "base/pause_clock.h"

namespace easyretry::mxrmq {

struct Finding {
  enum class Kind {
    orphan,       // a message that no worker will ever find; repair: made pending again
    unreadable,   // the same, and it cannot be parsed; repair: moved to the unreadable messages
    doubled,      // pending more than once; repair: pending once
    lone_topic,   // the topic of a message that no longer exists; repair: removed
    lone_letter,  // the topic of a dead letter that no longer exists; repair: removed
    lone_lease,   // our lease of a message that Python has ended; repair: removed
  };
  Kind kind = Kind::orphan;
  std::string id;
  std::string topic;  // empty if it is unknown
};

std::string_view to_string(Finding::Kind kind);

struct FsckOptions {
  bool repair = false;
  // A Python worker moves a message in two steps, and between them the message looks like an orphan. So an orphan is
  // one that is still an orphan after this time.
  Millis grace{5'000};
  const base::PauseClock* pauses = &base::system_pauses();
  std::function<void(const Finding&)> tell = [](const Finding&) {};
  std::function<void(std::int64_t looked_at, std::int64_t expected)> progress = [](std::int64_t, std::int64_t) {};
};

struct FsckReport {
  std::int64_t messages = 0;
  std::int64_t findings = 0;
};

// Throws std::invalid_argument for the url, StoreError for the server.
FsckReport fsck(std::string_view queue_url, const FsckOptions& options);

}  // namespace easyretry::mxrmq
