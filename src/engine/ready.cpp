#include "engine/ready.h"

#include <algorithm>
#include <iterator>

namespace easyretry::engine {

Ready::Queue& Ready::queue(std::uint16_t handler) {
  if (queues_.size() <= handler) queues_.resize(handler + std::size_t{1});
  return queues_[handler];
}

// Where an entry is about to be put.
std::deque<WheelEntry>& Ready::line(Queue& queue, const WheelEntry& entry) {
  if (entry.suspicion == 0) return queue.entries;
  ++suspects_;
  return queue.suspects;
}

bool Ready::add(const WheelEntry& entry) {
  if (!known_.insert(entry.id, entry.version)) return false;
  Queue& q = queue(entry.handler);
  if (q.size() >= per_handler_) {
    q.overflowed = true;
    known_.erase(entry.id);
    return false;
  }
  line(q, entry).push_back(entry);
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

void Ready::pick_suspects(const std::function<Choice(const WheelEntry&, std::size_t)>& choose,
                          std::vector<WheelEntry>& out) {
  const std::size_t before = out.size();
  for (Queue& q : queues_) {
    for (auto it = q.suspects.begin(); it != q.suspects.end();) {
      const Choice choice = choose(*it, q.picked);
      if (choice == Choice::next_handler) break;
      if (choice == Choice::leave) {
        ++it;
        continue;
      }
      out.push_back(*it);
      out.back().version = known_.newest(it->id);
      it = q.suspects.erase(it);
      ++q.picked;
      ++picked_;
    }
  }
  suspects_ -= out.size() - before;
}

void Ready::put_back(std::span<const WheelEntry> picked) {
  for (auto it = picked.rbegin(); it != picked.rend(); ++it) {
    Queue& q = queue(it->handler);
    line(q, *it).push_front(*it);
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
      line(q, entry).push_back(entry);
      ++again;
    } else {
      known_.erase(entry.id);
    }
  }
  picked_ -= picked.size();
  return again;
}

void Ready::remove_if(const std::function<bool(const WheelEntry&)>& gone) {
  const auto leaves = [&](const WheelEntry& entry) {
    if (!gone(entry)) return false;
    known_.erase(entry.id);
    return true;
  };
  for (Queue& q : queues_) {
    std::erase_if(q.entries, leaves);
    suspects_ -= std::erase_if(q.suspects, leaves);
  }
}

bool Ready::take_hungry() {
  bool hungry = false;
  for (Queue& q : queues_) {
    if (!q.overflowed || q.size() > per_handler_ / 2) continue;
    q.overflowed = false;
    hungry = true;
  }
  return hungry;
}

}  // namespace easyretry::engine
