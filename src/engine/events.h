#pragma once
// Calls event listeners. Costs one atomic load without listeners. A listener that throws is counted, a slow queued
// listener loses events, and neither affects a task.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <easyretry/event.h>

#include "engine/measures.h"

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
  std::shared_ptr<const Listeners> direct_ =
      std::make_shared<Listeners>();            // guarded by mutex_; the list itself never changes
  std::vector<std::shared_ptr<Queue>> queues_;  // guarded by mutex_
};

}  // namespace easyretry::engine
