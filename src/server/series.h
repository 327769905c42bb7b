#pragma once
// Counts over time, in memory: steps of ten seconds for an hour, and of a minute for a day. Thread-safe.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/time.h>

namespace easyretry::server {

// The counts of a handler up to now. All except the backlog only grow.
struct SeriesReading {
  std::int64_t stored = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed_attempts = 0;
  std::int64_t ended_badly = 0;
  std::int64_t backlog = 0;
  std::vector<std::uint64_t> late{};  // numbers of attempts, between engine::bounds::kLateness
};
using SeriesReadings = std::map<std::string, SeriesReading>;  // by handler

// One step. A step without measurements is nullopt.
struct SeriesPoint {
  std::int64_t stored = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed_attempts = 0;
  std::int64_t ended_badly = 0;
  std::int64_t backlog = 0;  // at its end
  std::optional<Millis> late_p50{};
  std::optional<Millis> late_p99{};
};

enum class SeriesStep { ten_seconds, minute };
Millis length_of(SeriesStep step);

// The growth in one step of ten seconds; `slot` is its number since 1970. Lines without growth are left out, except in
// their first step. The line "" is the sum of all.
struct SeriesGrowth {
  std::int64_t slot = 0;
  SeriesReadings lines{};
};

class Series {
 public:
  // Keeps at most this many handlers, about 100 kB each; the others are only in the sum of all.
  static constexpr std::size_t kMostHandlers = 100;

  // The growth since the last reading belongs to the step that ended at `at`, or shortly before. If other steps have
  // ended since then, because the reading took long, each gets an equal part. Returns these steps.
  std::vector<SeriesGrowth> add(TimePoint at, const SeriesReadings& readings);
  // The store did not answer: the steps until the next reading are unknown, except the last one.
  void lost();
  // Steps that an earlier process recorded, in order. Call it before the first add().
  void restore(const std::vector<SeriesGrowth>& steps);

  struct Shown {
    TimePoint from{};  // beginning of the first step; nothing is known before
    std::vector<std::optional<SeriesPoint>> points{};
  };
  struct Recent {
    Millis measured{};
    std::int64_t stored = 0;
    std::int64_t succeeded = 0;
    std::int64_t ended_badly = 0;
  };
  // The growth in the last ten minutes by handler, without handlers of which nothing was measured. Takes about 1 us per
  // handler.
  std::map<std::string, Recent> recent(TimePoint now) const;
  // Reads up to the last step that has ended. An empty handler: the sum of all.
  Shown read(SeriesStep step, const std::string& handler, TimePoint now) const;

 private:
  class Ring {
   public:
    explicit Ring(std::size_t size) : points_(size) {}
    void add(std::int64_t slot, const SeriesReading& more);
    std::optional<SeriesPoint> at(std::int64_t slot) const;
    std::size_t size() const { return points_.size(); }

   private:
    struct Kept {
      std::int64_t slot = -1;
      SeriesPoint point{};
    };
    std::vector<Kept> points_;
    std::vector<std::uint64_t> late_{};  // of the newest slot
  };
  struct Line {
    std::optional<SeriesReading> before{};
    bool begun = false;  // its first step is reported even without growth, to show when the line began
    std::array<Ring, 2> rings{Ring{360}, Ring{1440}};  // by SeriesStep

    void add(std::int64_t slot, const SeriesReading& more);  // a step of ten seconds
  };

  using Growths = std::vector<SeriesGrowth>;
  static void add(const std::string& name, Line& line, const SeriesReading& reading, Growths& steps);
  void admit(const SeriesReadings& readings);

  mutable std::mutex mutex_;
  // Guarded by mutex_
  std::optional<TimePoint> begun_;
  bool counting_ = false;                // there was a reading
  std::optional<std::int64_t> covered_;  // the last step that readings cover without a gap
  Line all_;
  std::map<std::string, Line> lines_;
};

}  // namespace easyretry::server
