#pragma once
// How large, how late and how slow: what Counters cannot say. Times are in nanoseconds.

#include <array>
#include <string_view>

#include "engine/histogram.h"

namespace easyretry::engine {

// The verbs of the store that an engine lives by.
enum class StoreVerb { insert, load, claim, settle, renew, revise, cancel, take_in, paused };
inline constexpr std::array<std::string_view, 9> kStoreVerbNames{"insert", "load",   "claim",   "settle", "renew",
                                                                 "revise", "cancel", "take_in", "paused"};

namespace bounds {

inline constexpr std::uint64_t kMicro = 1'000;
inline constexpr std::uint64_t kMilli = 1'000 * kMicro;
inline constexpr std::uint64_t kSecond = 1'000 * kMilli;

inline constexpr std::array kStore{100 * kMicro, 250 * kMicro, 500 * kMicro, kMilli,      5 * kMilli / 2,
                                   5 * kMilli,   10 * kMilli,  25 * kMilli,  50 * kMilli, 100 * kMilli,
                                   250 * kMilli, 500 * kMilli, kSecond,      5 * kSecond, 30 * kSecond};
inline constexpr std::array kLateness{kMilli,      5 * kMilli / 2, 5 * kMilli,   10 * kMilli,   25 * kMilli,
                                      50 * kMilli, 100 * kMilli,   250 * kMilli, 500 * kMilli,  kSecond,
                                      5 * kSecond, 30 * kSecond,   60 * kSecond, 600 * kSecond, 3600 * kSecond};
inline constexpr std::array kRunTime{kMilli,       5 * kMilli,   10 * kMilli,  25 * kMilli,  50 * kMilli,
                                     100 * kMilli, 250 * kMilli, 500 * kMilli, kSecond,      5 * kSecond / 2,
                                     5 * kSecond,  10 * kSecond, 30 * kSecond, 60 * kSecond, 300 * kSecond};
inline constexpr std::array<std::uint64_t, 12> kBatch{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};

}  // namespace bounds

struct StoreLatency : Histogram {
  StoreLatency() : Histogram(bounds::kStore) {}
};

struct Measures {
  Histogram lateness{bounds::kLateness};   // from a task's due time to the start of its attempt
  Histogram claim_batch{bounds::kBatch};   // tasks asked for by one call
  Histogram settle_batch{bounds::kBatch};  // tasks written by one call
  std::array<StoreLatency, kStoreVerbNames.size()> store_latency{};  // by verb; of calls that failed, too

  StoreLatency& latency_of(StoreVerb verb) { return store_latency[static_cast<std::size_t>(verb)]; }
};

}  // namespace easyretry::engine
