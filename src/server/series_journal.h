#pragma once
// A Series in a form that outlives the process: the growth in each step of ten seconds, in parts of
// five minutes. A part is saved again while it grows; after a day another part takes its place.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/series.h"
#include "storage/store.h"

namespace easyretry::server {

// Not thread-safe.
class SeriesJournal {
 public:
  // A step that does not follow the one before it leaves a gap.
  void add(SeriesGrowth step);

  // Takes the steps of an earlier process, before the first add(). The last part continues to grow.
  void resume(const std::vector<SeriesGrowth>& steps);

  // Calls `save`, which returns whether it succeeded, with each part that has changed since it was saved. If nothing
  // happened, no part has changed, however much time has passed.
  void save(const std::function<bool(const storage::SeriesPart&)>& save);

  // Every step that was measured, from `first` on, in order. A part that cannot be read, such as one of another
  // release, is left out.
  static std::vector<SeriesGrowth> read(std::span<const storage::SeriesPart> parts, std::int64_t first);

 private:
  struct Part {
    std::int64_t from = 0;  // all steps from here to `until` were measured
    std::int64_t until = 0;
    bool changed = false;
    std::map<std::int64_t, SeriesReadings> steps{};
  };
  static std::string text_of(const Part& part);

  std::optional<std::int64_t> from_;  // the first step since the last gap
  std::int64_t until_ = 0;
  std::map<std::int64_t, Part> parts_;  // by number; the current one, and others that are not saved
};

}  // namespace easyretry::server
