#include "sim/scheduler.h"

#include <algorithm>

namespace easyretry::sim {

Scheduler::Key Scheduler::at(Time when, std::function<void()> action) {
  Key key{std::max(when, now_), order_.seed()};
  while (!queue_.try_emplace(key, std::move(action)).second) ++key.second;
  return key;
}

bool Scheduler::step(Time until) {
  if (queue_.empty() || queue_.begin()->first.first > until) {
    now_ = std::max(now_, until);
    return false;
  }
  const auto next = queue_.extract(queue_.begin());
  now_ = next.key().first;
  ++events_;
  next.mapped()();
  return true;
}

}  // namespace easyretry::sim
