#pragma once
// Tells listeners what happens. Costs one load where nobody listens. A listener that throws is counted, a queued one
// that is slow loses events, and neither changes what becomes of a task.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <easyretry/event.h>

#include "engine/counters.h"

namespace easyretry::engine {

class Events {
 public:
  explicit Events(Counters& counters);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void add(EventListener listener, Delivery delivery);
  bool heard() const { return heard_.load(std::memory_order_relaxed); }
  void tell(const Event& event);

 private:
  class Queue;
  using Listeners = std::vector<EventListener>;

  Counters& counters_;
  std::atomic<bool> heard_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const Listeners> direct_ = std::make_shared<Listeners>();  // guarded by mutex_; never changed
  std::vector<std::shared_ptr<Queue>> queues_;                               // guarded by mutex_
};

}  // namespace easyretry::engine
