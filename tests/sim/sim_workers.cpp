#include "sim/sim_workers.h"

#include <algorithm>

#include "engine/attempt.h"

namespace easyretry::sim {

using engine::RunPtr;

SimWorkers::SimWorkers(Process& process, std::shared_ptr<engine::Context> context,
                       std::shared_ptr<engine::Outcomes> outcomes, std::size_t size, std::size_t ahead)
    : process_(process), context_(std::move(context)), outcomes_(std::move(outcomes)), size_(size), ahead_(ahead) {}

std::size_t SimWorkers::room(engine::HandlerNo handler, std::size_t concurrency, std::size_t coming) {
  Handler& h = handlers_[handler];
  h.limit = concurrency;
  const std::size_t wanted = concurrency + ahead_;
  const std::size_t have = h.waiting + h.running + coming;
  return wanted > have ? wanted - have : 0;
}

std::size_t SimWorkers::idle(engine::HandlerNo handler, std::size_t concurrency) {
  Handler& h = handlers_[handler];
  h.limit = concurrency;
  return concurrency - std::min(concurrency, h.waiting + h.running);
}

void SimWorkers::take(std::vector<RunPtr> runs) {
  for (RunPtr& run : runs) {
    ++handlers_[run->no].waiting;
    waiting_.push_back(std::move(run));
  }
  start_more();
}

std::vector<RunPtr> SimWorkers::take_waiting(const std::function<bool(const engine::Run&)>& wanted) {
  const auto first =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const RunPtr& run) { return !wanted(*run); });
  std::vector<RunPtr> taken{first, waiting_.end()};
  waiting_.erase(first, waiting_.end());
  for (const RunPtr& run : taken) --handlers_[run->no].waiting;
  return taken;
}

void SimWorkers::start_more() {
  while (running_ < size_) {
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const RunPtr& run) {
      const Handler& h = handlers_[run->no];
      return h.running < h.limit;
    });
    if (next == waiting_.end()) return;
    const RunPtr run = *next;
    waiting_.erase(next);
    --handlers_[run->no].waiting;
    ++handlers_[run->no].running;
    ++running_;
    process_.spawn([this, run] { work(run); });
  }
}

void SimWorkers::work(const RunPtr& run) {
  run->started = context_->clock.steady();
  task::Settlement settlement = engine::attempt(*run, *context_);
  if (Fiber::killed()) throw Killed{};  // attempt() has taken it for a failure of the handler
  outcomes_->put(run, std::move(settlement));
  --handlers_[run->no].running;
  --running_;
  start_more();
}

}  // namespace easyretry::sim
