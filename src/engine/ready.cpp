#include "engine/ready.h"

#include <algorithm>
#include <iterator>

namespace easyretry::engine {

Ready::Queue& Ready::queue(std::uint16_t handler) {
  if (queues_.size() <= handler) queues_.resize(handler + std::size_t{1});
  return queues_[handler];
}

bool Ready::add(const WheelEntry& entry) {
  if (!known_.insert(entry.id, entry.version)) return false;
  Queue& q = queue(entry.handler);
  if (q.entries.size() >= per_handler_) {
    q.overflowed = true;
    known_.erase(entry.id);
    return false;
  }
  q.entries.push_back(entry);
  return true;
}

void Ready::pick(const std::function<std::size_t(std::uint16_t, std::size_t)>& room, std::size_t limit,
                 std::vector<WheelEntry>& out) {
  for (std::size_t i = 0; i < queues_.size() && out.size() < limit; ++i) {
    const std::size_t no = (turn_ + i) % queues_.size();
    Queue& q = queues_[no];
    if (q.entries.empty()) continue;
    const std::size_t n =
        std::min({q.entries.size(), room(static_cast<std::uint16_t>(no), q.picked), limit - out.size()});
    const auto end = q.entries.begin() + static_cast<std::ptrdiff_t>(n);
    std::transform(q.entries.begin(), end, std::back_inserter(out), [&](WheelEntry entry) {
      entry.version = known_.newest(entry.id);
      return entry;
    });
    q.entries.erase(q.entries.begin(), end);
    q.picked += n;
    picked_ += n;
  }
  if (!queues_.empty()) turn_ = (turn_ + 1) % queues_.size();
}

void Ready::put_back(std::span<const WheelEntry> picked) {
  for (auto it = picked.rbegin(); it != picked.rend(); ++it) {
    Queue& q = queue(it->handler);
    q.entries.push_front(*it);
    --q.picked;
  }
  picked_ -= picked.size();
}

std::size_t Ready::release(std::span<const WheelEntry> picked) {
  std::size_t again = 0;
  for (WheelEntry entry : picked) {
    Queue& q = queue(entry.handler);
    --q.picked;
    const std::uint32_t newest = known_.newest(entry.id);
    if (newest > entry.version) {
      entry.version = newest;
      q.entries.push_back(entry);
      ++again;
    } else {
      known_.erase(entry.id);
    }
  }
  picked_ -= picked.size();
  return again;
}

void Ready::remove_if(const std::function<bool(const WheelEntry&)>& gone) {
  for (Queue& q : queues_) {
    std::erase_if(q.entries, [&](const WheelEntry& entry) {
      if (!gone(entry)) return false;
      known_.erase(entry.id);
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
