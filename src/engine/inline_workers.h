#pragma once
// Runs handlers on the thread that steps the engine: for tests, where everything happens in a known order.

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/attempt.h"
#include "engine/context.h"
#include "engine/workers.h"

namespace easyretry::engine {

class InlineWorkers final : public Workers {
 public:
  InlineWorkers(Context& context, Outcomes& outcomes) : context_(context), outcomes_(outcomes) {}

  std::size_t room(HandlerNo, std::size_t, std::size_t) override { return context_.live.batch.load(); }
  void take(std::vector<RunPtr> runs) override { std::move(runs.begin(), runs.end(), std::back_inserter(waiting_)); }
  std::size_t idle(HandlerNo, std::size_t) override { return waiting_.empty() ? 1 : 0; }
  std::size_t size() const override { return 1; }
  std::size_t busy() const override { return waiting_.size(); }
  std::size_t waiting() const override { return waiting_.size(); }
  std::vector<RunPtr> take_waiting(const std::function<bool(const Run&)>& wanted) override {
    const auto first =
        std::stable_partition(waiting_.begin(), waiting_.end(), [&](const RunPtr& run) { return !wanted(*run); });
    std::vector<RunPtr> taken{first, waiting_.end()};
    waiting_.erase(first, waiting_.end());
    return taken;
  }

  // Runs what is waiting; true if there was anything.
  bool step() {
    const std::vector<RunPtr> runs = std::exchange(waiting_, {});
    for (const RunPtr& run : runs) {
      mark_started(*run, context_);
      auto settlement = attempt(*run, context_);
      outcomes_.put(run, std::move(settlement));
    }
    return !runs.empty();
  }

 private:
  Context& context_;
  Outcomes& outcomes_;
  std::vector<RunPtr> waiting_;
};

}  // namespace easyretry::engine
