#include "engine/ready.h"

#include <algorithm>
#include <iterator>

#include <boost/unordered/unordered_flat_map.hpp>

namespace easyretry::engine {
namespace {

struct ClassShare {
  TaskClass task_class;
  std::size_t share;
};
constexpr std::array<ClassShare, kClasses> kOrder{
    {{TaskClass::urgent, 16}, {TaskClass::normal, 4}, {TaskClass::background, 1}}};

constexpr std::size_t number_of(TaskClass task_class) {
  return static_cast<std::size_t>(task_class);
}

}  // namespace

// Every due task passes here twice; a flat map needs no allocation per task. Decision 35.
struct Ready::Known {
  boost::unordered_flat_map<TaskId, std::int64_t> newest;
};

Ready::Ready(std::size_t per_queue)
    : per_queue_(per_queue),
      per_class_(per_queue),
      per_held_queue_(per_queue),
      known_(std::make_unique<Known>()),
      left_(kOrder.front().share) {}
Ready::~Ready() = default;

std::size_t Ready::size() const {
  return known_->newest.size() - picked_;
}

std::size_t Ready::size(std::uint32_t handler) const {
  if (handler >= handlers_.size()) return 0;
  std::size_t sum = handlers_[handler].suspects.size();
  for (const Queue& queue : handlers_[handler].queues) sum += queue.tasks.size();
  return sum;
}

Ready::OfHandler& Ready::of(std::uint32_t handler) {
  if (handlers_.size() <= handler) handlers_.resize(handler + std::size_t{1});
  return handlers_[handler];
}

// The queue for a task that is about to be added.
std::deque<DueTask>& Ready::place_for(OfHandler& handler, const DueTask& task) {
  if (task.suspicion > 0) {
    ++suspects_;
    return handler.suspects;
  }
  const std::size_t no = number_of(task.task_class);
  ++waiting_[no];
  return handler.queues[no].tasks;
}

std::size_t Ready::most_in_queue(const OfHandler& handler) const {
  return handler.held ? std::min(per_queue_, per_held_queue_) : per_queue_;
}

std::size_t Ready::room_for(std::uint32_t handler, TaskClass task_class) {
  const OfHandler& h = of(handler);
  const std::size_t in_queue = h.queues[number_of(task_class)].tasks.size() + h.suspects.size();
  const std::size_t most = most_in_queue(h);
  const std::size_t of_queue = most - std::min(most, in_queue);
  if (!mixed_) return of_queue;
  return std::min(of_queue, per_class_ - std::min(per_class_, waiting_[number_of(task_class)]));
}

void Ready::leave_out(std::uint32_t handler, TaskClass task_class) {
  of(handler).queues[number_of(task_class)].overflowed = true;
}

bool Ready::add(const DueTask& task) {
  const auto [known, fresh] = known_->newest.try_emplace(task.id, task.version);
  if (!fresh) {
    known->second = std::max(known->second, task.version);
    return false;
  }
  mixed_ = mixed_ || task.task_class != TaskClass::normal;
  if (room_for(task.handler, task.task_class) == 0) {
    leave_out(task.handler, task.task_class);
    known_->newest.erase(known);
    return false;
  }
  place_for(of(task.handler), task).push_back(task);
  return true;
}

// A held handler is free again when it has started as many tasks as it keeps. One full answer is not enough: a limit
// that is nearly reached gives full and partial ones in turn, and tasks would come and go each time.
void Ready::allow(std::uint32_t handler, std::size_t wanted, std::size_t allowed) {
  OfHandler& h = of(handler);
  if (allowed < wanted) {
    h.held = true;
    h.started = 0;
    return;
  }
  h.started += allowed;
  if (h.started >= per_held_queue_) h.held = false;
}

std::size_t Ready::shrink_held(std::size_t together) {
  std::size_t held = 0;
  for (std::size_t no = 0; no < handlers_.size(); ++no) {
    OfHandler& h = handlers_[no];
    h.held = h.held && size(static_cast<std::uint32_t>(no)) > 0;
    if (h.held) ++held;
  }
  if (held == 0) return 0;
  const std::size_t queues = held * (mixed_ ? kClasses : 1);
  per_held_queue_ = std::max<std::size_t>(1, together / queues);
  std::size_t left_out = 0;
  for (OfHandler& h : handlers_) left_out += h.held ? shrink(h) : 0;
  return left_out;
}

// Drops the latest tasks. They are read again when there is room.
std::size_t Ready::shrink(OfHandler& handler) {
  const std::size_t most = most_in_queue(handler);
  std::size_t left_out = 0;
  const auto drop_last = [&](std::deque<DueTask>& tasks) {
    handler.queues[number_of(tasks.back().task_class)].overflowed = true;
    known_->newest.erase(tasks.back().id);
    tasks.pop_back();
    ++left_out;
  };
  for (; handler.suspects.size() > most; --suspects_) drop_last(handler.suspects);
  for (std::size_t no = 0; no < kClasses; ++no) {
    std::deque<DueTask>& tasks = handler.queues[no].tasks;
    for (; !tasks.empty() && tasks.size() + handler.suspects.size() > most; --waiting_[no]) drop_last(tasks);
  }
  return left_out;
}

// If `limit` ends a turn, the next call continues it.
void Ready::pick(const Room& room, std::size_t limit, std::vector<DueTask>& out) {
  std::array<bool, kClasses> willing{};  // those that have tasks, and room for them as far as is known
  std::ranges::transform(waiting_, willing.begin(), [](std::size_t tasks) { return tasks > 0; });
  while (out.size() < limit && std::ranges::count(willing, true) > 0) {
    const std::size_t no = number_of(kOrder[class_turn_].task_class);
    const bool alone = willing[no] && std::ranges::count(willing, true) == 1;
    const std::size_t most = alone ? limit - out.size() : std::min(limit - out.size(), left_);
    const std::size_t taken = willing[no] ? pick_of(no, room, most, out) : 0;
    if (taken < most) willing[no] = false;
    left_ -= std::min(left_, taken);
    if (left_ > 0 && willing[no]) continue;
    class_turn_ = (class_turn_ + 1) % kClasses;
    left_ = kOrder[class_turn_].share;
  }
  if (!handlers_.empty()) turn_ = (turn_ + 1) % handlers_.size();
}

// Returns how many it took.
std::size_t Ready::pick_of(std::size_t task_class, const Room& room, std::size_t most, std::vector<DueTask>& out) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < handlers_.size() && taken < most && waiting_[task_class] > 0; ++i) {
    const std::size_t no = (turn_ + i) % handlers_.size();
    OfHandler& h = handlers_[no];
    std::deque<DueTask>& tasks = h.queues[task_class].tasks;
    if (tasks.empty()) continue;
    const std::size_t wanted = std::min(tasks.size(), most - taken);
    const std::size_t n = std::min(wanted, room(static_cast<std::uint32_t>(no), wanted, h.picked));
    const auto end = tasks.begin() + static_cast<std::ptrdiff_t>(n);
    std::transform(tasks.begin(), end, std::back_inserter(out), [&](DueTask task) {
      task.version = known_->newest.at(task.id);
      return task;
    });
    tasks.erase(tasks.begin(), end);
    h.picked += n;
    picked_ += n;
    waiting_[task_class] -= n;
    taken += n;
  }
  return taken;
}

void Ready::pick_suspects(const std::function<Choice(const DueTask&, std::size_t)>& choose, std::vector<DueTask>& out) {
  const std::size_t before = out.size();
  for (OfHandler& h : handlers_) {
    for (auto it = h.suspects.begin(); it != h.suspects.end();) {
      const Choice choice = choose(*it, h.picked);
      if (choice == Choice::next_handler) break;
      if (choice == Choice::leave) {
        ++it;
        continue;
      }
      out.push_back(*it);
      out.back().version = known_->newest.at(it->id);
      it = h.suspects.erase(it);
      ++h.picked;
      ++picked_;
    }
  }
  suspects_ -= out.size() - before;
}

void Ready::put_back(std::span<const DueTask> picked) {
  for (auto it = picked.rbegin(); it != picked.rend(); ++it) {
    OfHandler& h = of(it->handler);
    place_for(h, *it).push_front(*it);
    --h.picked;
  }
  picked_ -= picked.size();
}

std::size_t Ready::release(std::span<const DueTask> picked) {
  std::size_t again = 0;
  for (DueTask task : picked) {
    OfHandler& h = of(task.handler);
    --h.picked;
    const auto known = known_->newest.find(task.id);
    if (known->second > task.version) {
      task.version = known->second;
      place_for(h, task).push_back(task);
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
  for (OfHandler& h : handlers_) {
    for (std::size_t no = 0; no < kClasses; ++no) waiting_[no] -= std::erase_if(h.queues[no].tasks, leaves);
    suspects_ -= std::erase_if(h.suspects, leaves);
  }
}

bool Ready::take_reload_wanted() {
  bool wanted = false;
  for (OfHandler& h : handlers_) {
    for (std::size_t no = 0; no < kClasses; ++no) {
      Queue& queue = h.queues[no];
      const bool has_room =
          queue.tasks.size() + h.suspects.size() <= most_in_queue(h) / 2 && (!mixed_ || waiting_[no] <= per_class_ / 2);
      if (!queue.overflowed || !has_room) continue;
      queue.overflowed = false;
      wanted = true;
    }
  }
  return wanted;
}

}  // namespace easyretry::engine
