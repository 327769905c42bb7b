#pragma once
// Makes tasks of what plain SQL put into the store's inbox. Several instances take from it at once, each row once.

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/polling.h"
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
  // Whether look_soon() will be called, so that there is no need to poll.
  void rely_on_news(bool there_are) { has_news_ = there_are; }

  Bell bell;

 private:
  std::vector<std::string> known_handlers() const;
  Instant::duration pause(Instant now) const;

  Context& context_;
  const bool has_inbox_;
  const Taken taken_;
  storage::Convert convert_;
  std::atomic<bool> news_{false};
  std::atomic<bool> has_news_{false};

  // The intake thread's own
  Instant next_ = Instant::min();
  Instant earliest_ = Instant::min();  // for news
  Polling polling_;
  int failures_ = 0;
};

}  // namespace easyretry::engine
