#pragma once
// Reads the counts of a namespace every ten seconds, for its series, and saves them once a minute if anything happened.
//
// Stored and ended tasks, and the backlog, cover the whole store; failed attempts and lateness cover this instance. A
// store that is slow to answer is asked less often, so that this takes a hundredth of the time at most.

#include <functional>

#include "engine/core.h"
#include "server/series.h"
#include "server/series_journal.h"

namespace easyretry::server {

class SeriesRecorder {
 public:
  // `see` gets all counts that are read.
  SeriesRecorder(engine::Core& core, std::function<void(const Counts&)> see) : core_(core), see_(std::move(see)) {}

  // If the store does not answer, the step has no values.
  engine::Step step();
  // Saves the steps since the last call. step() calls it; call it once more after the last step().
  void save();
  const Series& series() const { return series_; }

  engine::Wakeup wakeup;

 private:
  bool restore();
  void read();

  engine::Core& core_;
  const std::function<void(const Counts&)> see_;
  Series series_;
  SeriesJournal journal_;
  bool restored_ = false;
  bool answers_ = false;  // the store, when it was last asked
  Instant saved_{};
};

}  // namespace easyretry::server
