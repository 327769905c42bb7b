#include "engine/ready.h"

#include <algorithm>

namespace easyretry::engine {

Ready::Queue& Ready::queue(std::uint16_t handler) {
  if (queues_.size() <= handler) queues_.resize(handler + std::size_t{1});
  return queues_[handler];
}

bool Ready::add(const WheelEntry& entry) {
  Queue& q = queue(entry.handler);
  if (q.entries.size() >= per_handler_) {
    q.overflowed = true;
    return false;
  }
  if (!ids_.insert(entry.id).second) return false;
  q.entries.push_back(entry);
  return true;
}

void Ready::put_back(const std::vector<WheelEntry>& entries) {
  for (auto it = entries.rbegin(); it != entries.rend(); ++it) {
    if (ids_.insert(it->id).second) queue(it->handler).entries.push_front(*it);
  }
}

void Ready::pick(const std::function<std::size_t(std::uint16_t)>& room, std::size_t limit,
                 std::vector<WheelEntry>& out) {
  for (std::size_t i = 0; i < queues_.size() && out.size() < limit; ++i) {
    const std::size_t no = (turn_ + i) % queues_.size();
    auto& entries = queues_[no].entries;
    if (entries.empty()) continue;
    const std::size_t n = std::min({entries.size(), room(static_cast<std::uint16_t>(no)), limit - out.size()});
    for (std::size_t k = 0; k < n; ++k) {
      ids_.erase(entries.front().id);
      out.push_back(entries.front());
      entries.pop_front();
    }
  }
  if (!queues_.empty()) turn_ = (turn_ + 1) % queues_.size();
}

void Ready::remove_if(const std::function<bool(const WheelEntry&)>& gone) {
  for (Queue& q : queues_) {
    std::erase_if(q.entries, [&](const WheelEntry& entry) {
      if (!gone(entry)) return false;
      ids_.erase(entry.id);
      return true;
    });
  }
}

bool Ready::take_hungry() {
  bool hungry = false;
  for (Queue& q : queues_) {
    if (!q.overflowed || q.entries.size() > per_handler_ / 2) continue;
    q.overflowed = false;
    hungry = true;
  }
  return hungry;
}

}  // namespace easyretry::engine
