#pragma once
// Runs handlers on the thread that steps the engine: for tests, where everything happens in one known order.

#include "engine/context.h"
#include "engine/outcomes.h"
#include "engine/workers.h"

namespace easyretry::engine {

class InlineWorkers final : public Workers {
 public:
  InlineWorkers(Context& context, Outcomes& outcomes) : context_(context), outcomes_(outcomes) {}

  std::size_t room(HandlerNo handler, std::size_t concurrency, std::size_t coming) override;
  void take(std::vector<RunPtr> runs) override;
  std::size_t idle(HandlerNo /*handler*/, std::size_t /*concurrency*/) override { return waiting_.empty() ? 1 : 0; }
  std::size_t size() const override { return 1; }
  std::size_t busy() const override { return waiting_.size(); }
  std::size_t waiting() const override { return waiting_.size(); }
  std::vector<RunPtr> take_waiting(const std::function<bool(const Run&)>& wanted) override;

  // Runs what is waiting; true if there was anything.
  bool step();

 private:
  Context& context_;
  Outcomes& outcomes_;
  std::vector<RunPtr> waiting_;
};

}  // namespace easyretry::engine
