#pragma once
// A pool of virtual worker threads. An execution lasts as long as its handler sleeps, in the process's time: it is
// stopped with the process, and dies with it.

#include <deque>
#include <map>

#include "engine/context.h"
#include "engine/in_flight.h"
#include "engine/workers.h"
#include "sim/process.h"

namespace easyretry::sim {

class SimWorkers final : public engine::Workers {
 public:
  // `ahead`: how many are claimed beyond the free threads, as the real pool does while handlers are quick.
  SimWorkers(Process& process, std::shared_ptr<engine::Context> context, std::shared_ptr<engine::Outcomes> outcomes,
             std::size_t size, std::size_t ahead);

  std::size_t room(engine::HandlerNo handler, std::size_t concurrency, std::size_t coming) override;
  void take(std::vector<engine::RunPtr> runs) override;
  std::size_t idle(engine::HandlerNo handler, std::size_t concurrency) override;
  std::size_t size() const override { return size_; }
  std::size_t busy() const override { return waiting_.size() + running_; }
  std::size_t waiting() const override { return waiting_.size(); }
  std::vector<engine::RunPtr> take_waiting(const std::function<bool(const engine::Run&)>& wanted) override;

 private:
  struct Handler {
    std::size_t limit = 1;
    std::size_t waiting = 0;
    std::size_t running = 0;
  };

  void start_more();
  void work(const engine::RunPtr& run);

  Process& process_;
  const std::shared_ptr<engine::Context> context_;
  const std::shared_ptr<engine::Outcomes> outcomes_;
  const std::size_t size_;
  const std::size_t ahead_;
  std::deque<engine::RunPtr> waiting_;
  std::map<engine::HandlerNo, Handler> handlers_;
  std::size_t running_ = 0;
};

}  // namespace easyretry::sim
