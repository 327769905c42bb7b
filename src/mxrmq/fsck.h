#pragma once
// Finds, and mends, what workers that died at the wrong moment have left in a queue, while others work on it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::mxrmq {

struct Finding {
  enum class Kind {
    orphan,       // a message that nobody will ever look at; mended: pending again
    unreadable,   // the same, and it cannot be read; mended: with the messages that could not be
    doubled,      // pending several times; mended: once
    lone_topic,   // the topic of a message that is no more; mended: removed
    lone_letter,  // the topic of a dead letter that is no more; mended: removed
    lone_lease,   // our books of a message that Python has ended; mended: removed
  };
  Kind kind = Kind::orphan;
  std::string id;
  std::string topic;  // "" where nobody knows
};

std::string_view to_string(Finding::Kind kind);

struct FsckOptions {
  bool repair = false;
  // A worker of Python's has a message in nobody's books for a moment, between two of its steps: an orphan is one that
  // is still one after so long.
  Millis grace{5'000};
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
