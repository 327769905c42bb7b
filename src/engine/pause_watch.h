#pragma once
// Learns from the store which handlers are paused: every second while there is something to claim or something is
// paused, and before the first claim after a time without either. An instance that has nothing to do asks for nothing.

#include <atomic>
#include <functional>

#include "engine/context.h"
#include "engine/schedule.h"
#include "engine/step.h"

namespace easyretry::engine {

class PauseWatch {
 public:
  // `changed` is called when other handlers are paused than before.
  PauseWatch(Context& context, const Schedule& schedule, std::function<void()> changed)
      : context_(context), schedule_(schedule), changed_(std::move(changed)) {}

  Step step();
  // Asks with the next step. From any thread.
  void look_now();

 private:
  void heard(const storage::PausedReply& reply, Instant asked);

  Context& context_;
  const Schedule& schedule_;
  const std::function<void()> changed_;
  std::atomic<bool> now_{false};

  // The watching thread's own
  Instant next_ = Instant::min();
  int failures_ = 0;
};

}  // namespace easyretry::engine
