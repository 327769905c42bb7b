#include "engine/inline_workers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/attempt.h"

namespace easyretry::engine {

std::size_t InlineWorkers::room(HandlerNo, std::size_t, std::size_t) {
  return context_.options.batch;
}

void InlineWorkers::take(std::vector<RunPtr> runs) {
  std::move(runs.begin(), runs.end(), std::back_inserter(waiting_));
}

std::vector<RunPtr> InlineWorkers::take_waiting(const std::function<bool(const Run&)>& wanted) {
  const auto first =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const RunPtr& run) { return !wanted(*run); });
  std::vector<RunPtr> taken{first, waiting_.end()};
  waiting_.erase(first, waiting_.end());
  return taken;
}

bool InlineWorkers::step() {
  const std::vector<RunPtr> runs = std::exchange(waiting_, {});
  for (const RunPtr& run : runs) {
    mark_started(*run, context_);
    auto settlement = attempt(*run, context_);
    outcomes_.put(run, std::move(settlement));
  }
  return !runs.empty();
}

}  // namespace easyretry::engine
