// Handlers that people pause: decision 26.

#include "engine/attempt.h"
#include "engine/core.h"

namespace easyretry::engine {

Result<bool> Core::pause(std::string_view handler, std::string_view why) {
  auto changed = store_->pause(context_->options.space, handler, why);
  if (changed) pause_watch.look_now();
  return changed;
}

Result<bool> Core::resume(std::string_view handler) {
  auto changed = store_->resume(context_->options.space, handler);
  if (changed) pause_watch.look_now();
  return changed;
}

void Core::pauses_changed() {
  schedule.forget([this](const WheelEntry& entry) { return context_->is_paused(entry.handler); });
  // Not what is in this process's memory alone: a pause is the store's.
  hand_back_waiting([this](const Run& run) { return !run.settled && context_->is_paused(run.no); });
  // For the tasks of those that are resumed, and for what those that are paused now had left no room for.
  loader.hurry();
}

void Core::hand_back_waiting(const std::function<bool(const Run&)>& wanted) {
  for (RunPtr& run : workers_->take_waiting(wanted)) {
    task::Settlement back = handed_back(*run);
    outcomes_->put(std::move(run), std::move(back));
  }
}

}  // namespace easyretry::engine
