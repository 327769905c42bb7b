#pragma once
// Lets a task whose next crash would be its last run alone: nothing else is claimed before it begins and while it runs,
// so that it is not quarantined for the crash of another. Others are held back for a second at most, twice (before it
// begins, and while it runs), and are served for as long again before the next one.
//
//   free ──ask──► quieting ──begin──► running ──end──► free, after a rest
//
// One thread at a time: the Schedule owns it.

#include <algorithm>
#include <optional>

#include <easyretry/task.h>
#include <easyretry/time.h>

namespace easyretry::engine {

class Isolation {
 public:
  static constexpr Millis kLongest{1000};

  // A task waits to be run alone. `quiet`: nothing else runs or is being claimed. True: it may begin now. False: others
  // are held back, unless one runs alone already or others have their turn.
  bool ask(Instant now, bool quiet) {
    if (alone_ || now < rest_until_) return false;
    if (!asked_at_) asked_at_ = now;
    return quiet || now - *asked_at_ >= kLongest;
  }

  void begin(TaskId id, Instant now) {
    alone_ = id;
    begun_at_ = now;
  }

  std::optional<TaskId> alone() const { return alone_; }

  void end(Instant now) {
    if (asked_at_) rest_until_ = now + std::min<Instant::duration>(now - *asked_at_, 2 * kLongest);
    alone_.reset();
    asked_at_.reset();
  }

  bool holds_others(Instant now) const {
    if (alone_) return now - begun_at_ < kLongest;
    return asked_at_ && now - *asked_at_ < kLongest;
  }

 private:
  std::optional<TaskId> alone_{};
  std::optional<Instant> asked_at_{};
  Instant begun_at_{};
  Instant rest_until_ = Instant::min();
};

}  // namespace easyretry::engine
