#include "engine/ready.h"

#include <algorithm>
#include <iterator>

#include <boost/unordered/unordered_flat_map.hpp>

namespace easyretry::engine {

// Every due task passes here twice; a flat map needs no allocation per task. Decision 35.
struct Ready::Known {
  boost::unordered_flat_map<TaskId, std::int64_t> newest;
};

Ready::Ready(std::size_t per_handler) : per_handler_(per_handler), known_(std::make_unique<Known>()) {}
Ready::~Ready() = default;

std::size_t Ready::size() const {
  return known_->newest.size() - picked_;
}

Ready::Queue& Ready::queue(std::uint32_t handler) {
  if (queues_.size() <= handler) queues_.resize(handler + std::size_t{1});
  return queues_[handler];
}

// The queue for a task that is about to be added.
std::deque<DueTask>& Ready::line(Queue& queue, const DueTask& task) {
  if (task.suspicion == 0) return queue.tasks;
  ++suspects_;
  return queue.suspects;
}

bool Ready::add(const DueTask& task) {
  const auto [known, fresh] = known_->newest.try_emplace(task.id, task.version);
  if (!fresh) {
    known->second = std::max(known->second, task.version);
    return false;
  }
  Queue& q = queue(task.handler);
  if (q.size() >= per_handler_) {
    q.overflowed = true;
    known_->newest.erase(known);
    return false;
  }
  line(q, task).push_back(task);
  return true;
}

void Ready::pick(const std::function<std::size_t(std::uint32_t, std::size_t)>& room, std::size_t limit,
                 std::vector<DueTask>& out) {
  for (std::size_t i = 0; i < queues_.size() && out.size() < limit; ++i) {
    const std::size_t no = (turn_ + i) % queues_.size();
    Queue& q = queues_[no];
    if (q.tasks.empty()) continue;
    const std::size_t n =
        std::min({q.tasks.size(), room(static_cast<std::uint32_t>(no), q.picked), limit - out.size()});
    const auto end = q.tasks.begin() + static_cast<std::ptrdiff_t>(n);
    std::transform(q.tasks.begin(), end, std::back_inserter(out), [&](DueTask task) {
      task.version = known_->newest.at(task.id);
      return task;
    });
    q.tasks.erase(q.tasks.begin(), end);
    q.picked += n;
    picked_ += n;
  }
  if (!queues_.empty()) turn_ = (turn_ + 1) % queues_.size();
}

void Ready::pick_suspects(const std::function<Choice(const DueTask&, std::size_t)>& choose, std::vector<DueTask>& out) {
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
      out.back().version = known_->newest.at(it->id);
      it = q.suspects.erase(it);
      ++q.picked;
      ++picked_;
    }
  }
  suspects_ -= out.size() - before;
}

void Ready::put_back(std::span<const DueTask> picked) {
  for (auto it = picked.rbegin(); it != picked.rend(); ++it) {
    Queue& q = queue(it->handler);
    line(q, *it).push_front(*it);
    --q.picked;
  }
  picked_ -= picked.size();
}

std::size_t Ready::release(std::span<const DueTask> picked) {
  std::size_t again = 0;
  for (DueTask task : picked) {
    Queue& q = queue(task.handler);
    --q.picked;
    const auto known = known_->newest.find(task.id);
    if (known->second > task.version) {
      task.version = known->second;
      line(q, task).push_back(task);
      ++again;
    } else {
      known_->newest.erase(known);
    }
  }
  picked_ -= picked.size();
  return again;
}

void Ready::remove_if(const std::function<bool(const DueTask&)>& gone) {
  const auto leaves = [&](const DueTask& task) {
    if (!gone(task)) return false;
    known_->newest.erase(task.id);
    return true;
  };
  for (Queue& q : queues_) {
    std::erase_if(q.tasks, leaves);
    suspects_ -= std::erase_if(q.suspects, leaves);
  }
}

bool Ready::take_reload_wanted() {
  bool wanted = false;
  for (Queue& q : queues_) {
    if (!q.overflowed || q.size() > per_handler_ / 2) continue;
    q.overflowed = false;
    wanted = true;
  }
  return wanted;
}

}  // namespace easyretry::engine
