#pragma once

#include <atomic>
#include <cstdint>

#include <easyretry/mxrmq.h>

namespace easyretry::mxrmq {

struct Tally {
  std::atomic<std::int64_t> completed = 0;
  std::atomic<std::int64_t> retried = 0;
  std::atomic<std::int64_t> dead = 0;
  std::atomic<std::int64_t> unreadable = 0;
  std::atomic<std::int64_t> fenced = 0;
  std::atomic<std::int64_t> rescued = 0;

  WorkerStats stats() const { return {completed, retried, dead, unreadable, fenced, rescued}; }
};

}  // namespace easyretry::mxrmq
