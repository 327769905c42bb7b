#include "engine/ready.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace easyretry::engine {
namespace {

struct ClassShare {
  TaskClass task_class;
  std::size_t share;
};
constexpr std::array<ClassShare, kClasses> kOrder{
    {{TaskClass::urgent, 16}, {TaskClass::normal, 4}, {TaskClass::background, 1}}};

constexpr std::array kEach{TaskClass::normal, TaskClass::urgent, TaskClass::background};

constexpr std::size_t number_of(TaskClass task_class) {
  return static_cast<std::size_t>(task_class);
}

// How a task was seen last.
struct Newest {
  explicit Newest(const DueTask& task)
      : packed((static_cast<std::uint64_t>(task.version) << 1U) | (task.retried ? 1U : 0U)) {}
  std::int64_t version() const { return static_cast<std::int64_t>(packed >> 1U); }

  // 8 bytes, so that more of them are in the cache.
  std::uint64_t packed;
};

DueTask as_seen_last(DueTask task, const Newest& newest) {
  task.version = newest.version();
  task.retried = newest.packed % 2 == 1;
  return task;
}

}  // namespace

// Every due task passes here twice; a flat map needs no allocation per task. Decision 35.
struct Ready::Known {
  boost::unordered_flat_map<TaskId, Newest> newest;
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
  std::size_t sum = handlers_[handler].suspects.size() + retries_apart(handler);
  for (const Queue& queue : handlers_[handler].queues) sum += queue.tasks.size();
  return sum;
}

std::size_t Ready::retries_apart(std::uint32_t handler) const {
  if (handler >= handlers_.size() || !handlers_[handler].retries) return 0;
  std::size_t sum = 0;
  for (const Queue& queue : handlers_[handler].retries->queues) sum += queue.tasks.size();
  return sum;
}

Ready::OfHandler& Ready::of(std::uint32_t handler) {
  if (handlers_.size() <= handler) handlers_.resize(handler + std::size_t{1});
  return handlers_[handler];
}

Ready::Queue& Ready::OfHandler::queue(TaskClass task_class, bool retried) {
  return (retried && retries ? retries->queues : queues)[number_of(task_class)];
}

void Ready::keep_retries_apart(std::uint32_t handler, bool apart) {
  if (!apart && handler >= handlers_.size()) return;
  OfHandler& h = of(handler);
  if (apart == (h.retries != nullptr)) return;
  const auto before = std::exchange(h.retries, apart ? std::make_unique<Apart>() : nullptr);
  for (std::size_t no = 0; no < kClasses; ++no) {
    std::deque<DueTask> tasks = std::exchange(h.queues[no].tasks, {});
    if (before) {
      const Queue& retries = before->queues[no];
      tasks.insert(tasks.end(), retries.tasks.begin(), retries.tasks.end());
      h.queues[no].overflowed |= retries.overflowed;
    }
    std::ranges::stable_sort(tasks, {}, &DueTask::due);
    for (const DueTask& task : tasks) h.queue(task.task_class, task.retried).tasks.push_back(task);
  }
}

// The queue for a task that is about to be added.
std::deque<DueTask>& Ready::place_for(OfHandler& handler, const DueTask& task) {
  if (task.suspicion > 0) {
    ++suspects_;
    return handler.suspects;
  }
  ++waiting_[number_of(task.task_class)];
  return handler.queue(task.task_class, task.retried).tasks;
}

// Two lines have half of the queue each: neither can keep the other one out.
std::size_t Ready::most_in(const OfHandler& handler, bool retried) const {
  const std::size_t most = handler.retries ? std::max<std::size_t>(1, per_queue_ / 2) : per_queue_;
  return handler.is_held(retried) ? std::min(most, per_held_queue_) : most;
}

std::size_t Ready::used(OfHandler& handler, TaskClass task_class, bool retried) {
  const std::size_t waiting = handler.queue(task_class, retried).tasks.size();
  return retried && handler.retries ? waiting : waiting + handler.suspects.size();
}

std::size_t Ready::room_for(const Line& line) {
  OfHandler& h = of(line.handler);
  const std::size_t most = most_in(h, line.retried);
  const std::size_t in_line = most - std::min(most, used(h, line.task_class, line.retried));
  if (!mixed_) return in_line;
  return std::min(in_line, per_class_ - std::min(per_class_, waiting_[number_of(line.task_class)]));
}

void Ready::leave_out(const Line& line) {
  of(line.handler).queue(line.task_class, line.retried).overflowed = true;
}

bool Ready::is_held(const Line& line) const {
  return line.handler < handlers_.size() && handlers_[line.handler].is_held(line.retried);
}

bool Ready::add(const DueTask& task) {
  const auto [known, fresh] = known_->newest.try_emplace(task.id, task);
  if (!fresh) {
    if (task.version > known->second.version()) known->second = Newest{task};
    return false;
  }
  mixed_ = mixed_ || task.task_class != TaskClass::normal;
  if (room_for(line_of(task)) == 0) {
    leave_out(line_of(task));
    known_->newest.erase(known);
    return false;
  }
  place_for(of(task.handler), task).push_back(task);
  return true;
}

// What is held is free again when it has started as many tasks as it keeps. One full answer is not enough: a limit that
// is nearly reached gives full and partial ones in turn, and tasks would come and go each time.
void Ready::Hold::hear(std::size_t wanted, std::size_t allowed, std::size_t kept) {
  if (allowed < wanted) {
    held = true;
    started = 0;
    return;
  }
  started += allowed;
  if (started >= kept) held = false;
}

void Ready::allow(std::uint32_t handler, std::size_t wanted, std::size_t allowed) {
  of(handler).hold.hear(wanted, allowed, per_held_queue_);
}

void Ready::allow_retries(std::uint32_t handler, std::size_t wanted, std::size_t allowed) {
  if (const auto& retries = of(handler).retries) retries->hold.hear(wanted, allowed, per_held_queue_);
}

std::size_t Ready::shrink_held(std::size_t together) {
  std::size_t held = 0;
  for (std::size_t no = 0; no < handlers_.size(); ++no) {
    OfHandler& h = handlers_[no];
    h.hold.held = h.hold.held && size(static_cast<std::uint32_t>(no)) > 0;
    if (h.hold.held) ++held;
    if (!h.retries) continue;
    h.retries->hold.held = h.retries->hold.held && retries_apart(static_cast<std::uint32_t>(no)) > 0;
    if (h.is_held(true)) ++held;
  }
  if (held == 0) return 0;
  const std::size_t queues = held * (mixed_ ? kClasses : 1);
  per_held_queue_ = std::max<std::size_t>(1, together / queues);
  std::size_t left_out = 0;
  for (OfHandler& h : handlers_) left_out += h.is_held(true) ? shrink(h) : 0;
  return left_out;
}

// Leaves out the latest tasks. They are read again when there is room.
std::size_t Ready::shrink(OfHandler& handler) {
  const std::size_t before = known_->newest.size();
  for (; handler.hold.held && handler.suspects.size() > most_in(handler, false); --suspects_) {
    drop_last(handler, handler.suspects);
  }
  for (const TaskClass task_class : kEach) {
    for (const bool retried : {false, true}) {
      if (!handler.is_held(retried)) continue;
      std::deque<DueTask>& tasks = handler.queue(task_class, retried).tasks;
      while (!tasks.empty() && used(handler, task_class, retried) > most_in(handler, retried)) {
        drop_last(handler, tasks);
        --waiting_[number_of(task_class)];
      }
    }
  }
  return before - known_->newest.size();
}

void Ready::drop_last(OfHandler& handler, std::deque<DueTask>& tasks) {
  const Line line = line_of(tasks.back());
  handler.queue(line.task_class, line.retried).overflowed = true;
  known_->newest.erase(tasks.back().id);
  tasks.pop_back();
}

// If `limit` ends a turn, the next call continues it.
void Ready::pick(const Room& room, std::size_t limit, std::vector<DueTask>& out) {
  std::array<bool, kClasses> willing{};  // those that have tasks, and room for them as far as is known
  std::ranges::transform(waiting_, willing.begin(), [](std::size_t tasks) { return tasks > 0; });
  while (out.size() < limit && std::ranges::count(willing, true) > 0) {
    const TaskClass task_class = kOrder[class_turn_].task_class;
    const std::size_t no = number_of(task_class);
    const bool alone = willing[no] && std::ranges::count(willing, true) == 1;
    const std::size_t most = alone ? limit - out.size() : std::min(limit - out.size(), left_);
    const std::size_t taken = willing[no] ? pick_of(task_class, room, most, out) : 0;
    if (taken < most) willing[no] = false;
    left_ -= std::min(left_, taken);
    if (left_ > 0 && willing[no]) continue;
    class_turn_ = (class_turn_ + 1) % kClasses;
    left_ = kOrder[class_turn_].share;
  }
  if (!handlers_.empty()) turn_ = (turn_ + 1) % handlers_.size();
}

// Returns how many it took.
std::size_t Ready::pick_of(TaskClass task_class, const Room& room, std::size_t most, std::vector<DueTask>& out) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < handlers_.size() && taken < most && waiting_[number_of(task_class)] > 0; ++i) {
    const auto no = static_cast<std::uint32_t>((turn_ + i) % handlers_.size());
    if (handlers_[no].retries) taken += pick_from({no, task_class, true}, room, most - taken, out);
    taken += pick_from({no, task_class, false}, room, most - taken, out);
  }
  return taken;
}

std::size_t Ready::pick_from(const Line& line, const Room& room, std::size_t most, std::vector<DueTask>& out) {
  OfHandler& h = handlers_[line.handler];
  std::deque<DueTask>& tasks = h.queue(line.task_class, line.retried).tasks;
  const std::size_t wanted = std::min(tasks.size(), most);
  if (wanted == 0) return 0;
  const std::size_t n = std::min(wanted, room(line, wanted, h.picked));
  const auto end = tasks.begin() + static_cast<std::ptrdiff_t>(n);
  std::transform(tasks.begin(), end, std::back_inserter(out),
                 [&](const DueTask& task) { return as_seen_last(task, known_->newest.at(task.id)); });
  tasks.erase(tasks.begin(), end);
  h.picked += n;
  picked_ += n;
  waiting_[number_of(line.task_class)] -= n;
  return n;
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
      out.push_back(as_seen_last(*it, known_->newest.at(it->id)));
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
  for (const DueTask& task : picked) {
    OfHandler& h = of(task.handler);
    --h.picked;
    const auto known = known_->newest.find(task.id);
    if (known->second.version() > task.version) {
      const DueTask newer = as_seen_last(task, known->second);
      place_for(h, newer).push_back(newer);
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
    for (std::size_t no = 0; no < kClasses; ++no) {
      waiting_[no] -= std::erase_if(h.queues[no].tasks, leaves);
      if (h.retries) waiting_[no] -= std::erase_if(h.retries->queues[no].tasks, leaves);
    }
    suspects_ -= std::erase_if(h.suspects, leaves);
  }
}

bool Ready::take_reload_wanted() {
  bool wanted = false;
  for (OfHandler& h : handlers_) {
    wanted |= take_reload_wanted(h, false);
    if (h.retries) wanted |= take_reload_wanted(h, true);
  }
  return wanted;
}

bool Ready::take_reload_wanted(OfHandler& handler, bool retried) {
  bool wanted = false;
  for (const TaskClass task_class : kEach) {
    Queue& queue = handler.queue(task_class, retried);
    const bool has_room = used(handler, task_class, retried) <= most_in(handler, retried) / 2 &&
                          (!mixed_ || waiting_[number_of(task_class)] <= per_class_ / 2);
    if (!queue.overflowed || !has_room) continue;
    queue.overflowed = false;
    wanted = true;
  }
  return wanted;
}

}  // namespace easyretry::engine
