#pragma once
// Makes tasks of what plain SQL put into the store's inbox. Several instances take from it at once, each row once.
// Looks when it is told that there may be something: by the Loader, whose store says so, or by news.

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/step.h"

namespace easyretry::engine {

class Intake {
 public:
  using Taken = std::function<void(std::span<const task::NewTask>, std::span<const storage::Inserted>)>;
  // `taken` hears of the tasks that were made.
  Intake(Context& context, const storage::StoreInfo& store, Taken taken);

  // How a row becomes a task. To be said before the first step; without it nothing is taken in.
  void convert_with(storage::Convert convert) { convert_ = std::move(convert); }
  // Whether there is anything to do, ever.
  bool wanted() const { return has_inbox_ && convert_; }

  Step step();
  // Something may be there. From any thread.
  void look_soon();

  Bell bell;

 private:
  Context& context_;
  const bool has_inbox_;
  const Taken taken_;
  storage::Convert convert_;
  std::atomic<bool> told_{true};  // nobody has looked yet

  // The intake thread's own
  Instant earliest_ = Instant::min();
  int failures_ = 0;
};

}  // namespace easyretry::engine
