#pragma once
// Due tasks that wait for a free worker: one queue per handler and class. Classes are served in turn, 16 urgent tasks,
// 4 normal ones and 1 of the background, and the handlers of a class in turn, so that a slow handler holds up only
// itself. A class that has nothing, or no room for it, is passed over. One thread at a time: the Schedule owns it.
//
// A picked task stays known until it is released: if it is read again meanwhile, it is not claimed twice. A task that
// comes twice is claimed in its newest version: a scan may bring one that was read before its last run, and must not
// hold up its retry. Tasks under suspicion have queues of their own.
//
// Retries of a handler with a budget for them wait apart, so that those that may not start are not in front of others.
// They are picked first, as far as the budget allows it. Decision 70.
//
// A handler is held while circuits or limits allow it less than its workers could take, and its retries while their
// budget does. These tasks would stay here, and in the end leave no room for others. So all that is held has a small
// part of the memory; what is beyond it stays in the store. Decision 66.

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "task/record.h"

namespace easyretry::engine {

using task::DueTask;

inline constexpr std::size_t kClasses = 3;  // TaskClass

// Tasks that wait together: of one handler and class, and if its retries wait apart, those or the others. If they do
// not, `retried` makes no difference.
struct Line {
  std::uint32_t handler = 0;
  TaskClass task_class = TaskClass::normal;
  bool retried = false;
};

// Suspects do not wait for a budget.
inline Line line_of(const DueTask& task) {
  return {task.handler, task.task_class, task.retried && task.suspicion == 0};
}

class Ready {
 public:
  explicit Ready(std::size_t per_queue);
  ~Ready();
  // Sets the limits for one handler and class, and for one class unless all tasks are normal. The rest stays in the
  // store and is read again later.
  void limit(std::size_t per_queue, std::size_t per_class) {
    per_queue_ = per_queue;
    per_class_ = per_class;
  }

  // Whether retries of the handler wait apart from now on.
  void keep_retries_apart(std::uint32_t handler, bool apart);

  // False: it is here or picked already (in this version, or raised to it), or its line is full.
  bool add(const DueTask& task);
  // How many more tasks a line takes.
  std::size_t room_for(const Line& line);
  // There was no room for a task: take_reload_wanted() asks for it when there is.
  void leave_out(const Line& line);

  // Workers have room for `wanted` tasks of the handler; circuits and limits allow `allowed` of them to start.
  void allow(std::uint32_t handler, std::size_t wanted, std::size_t allowed);
  // The same for its retries, which wait apart, and their budget.
  void allow_retries(std::uint32_t handler, std::size_t wanted, std::size_t allowed);
  bool is_held(const Line& line) const;
  // Held lines keep this many tasks in total, in equal parts, and leave out the others. Returns how many they leave.
  std::size_t shrink_held(std::size_t together);

  // Takes up to `limit` tasks, from each line as many as room(line, wanted, picked) says, at most `wanted`. `picked` is
  // the number of tasks of the handler that are picked and not released. `line.retried`: its retries wait apart.
  using Room = std::function<std::size_t(const Line& line, std::size_t wanted, std::size_t picked)>;
  void pick(const Room& room, std::size_t limit, std::vector<DueTask>& out);
  // Goes through the tasks under suspicion, one handler after the other. choose(task, picked) gets the number of tasks
  // of its handler that are picked and not released.
  enum class Choice { take, leave, next_handler };
  void pick_suspects(const std::function<Choice(const DueTask&, std::size_t)>& choose, std::vector<DueTask>& out);
  // Picked tasks go back to the head of their line, after a claim that could not be made …
  void put_back(std::span<const DueTask> picked);
  // … or leave, claimed by this or another instance. Tasks that have come in a newer version stay; returns how many
  // they are.
  std::size_t release(std::span<const DueTask> picked);

  void remove_if(const std::function<bool(const DueTask&)>& gone);

  std::size_t size() const;  // without the picked ones
  std::size_t size(std::uint32_t handler) const;
  std::size_t retries_apart(std::uint32_t handler) const;
  // Waiting tasks that are not suspects, by TaskClass.
  const std::array<std::size_t, kClasses>& by_class() const { return waiting_; }
  std::size_t picked() const { return picked_; }
  std::size_t picked(std::uint32_t handler) const { return handler < handlers_.size() ? handlers_[handler].picked : 0; }
  bool has_suspects() const { return suspects_ > 0; }
  // A line overflowed since the last call and has room again, so what was left out should be read.
  bool take_reload_wanted();

 private:
  struct Queue {
    std::deque<DueTask> tasks;
    bool overflowed = false;
  };
  using Queues = std::array<Queue, kClasses>;  // by TaskClass
  struct Hold {
    bool held = false;
    std::size_t started = 0;  // since it was held back
    void hear(std::size_t wanted, std::size_t allowed, std::size_t kept);
  };
  struct Apart {
    Queues queues;
    Hold hold;
  };
  struct OfHandler {
    Queues queues;
    std::deque<DueTask> suspects;  // of all classes
    std::size_t picked = 0;
    Hold hold;
    std::unique_ptr<Apart> retries{};  // null: they are in `queues`

    Queue& queue(TaskClass task_class, bool retried);
    bool is_held(bool retried) const { return hold.held || (retried && retries && retries->hold.held); }
  };
  struct Known;  // by id, waiting or picked

  OfHandler& of(std::uint32_t handler);
  std::deque<DueTask>& place_for(OfHandler& handler, const DueTask& task);
  // Of a line: how many tasks it may have, and how many it has. Suspects count, except among retries that wait apart.
  std::size_t most_in(const OfHandler& handler, bool retried) const;
  static std::size_t used(OfHandler& handler, TaskClass task_class, bool retried);
  std::size_t shrink(OfHandler& handler);
  void drop_last(OfHandler& handler, std::deque<DueTask>& tasks);
  std::size_t pick_of(TaskClass task_class, const Room& room, std::size_t most, std::vector<DueTask>& out);
  std::size_t pick_from(const Line& line, const Room& room, std::size_t most, std::vector<DueTask>& out);
  bool take_reload_wanted(OfHandler& handler, bool retried);

  std::size_t per_queue_;
  std::size_t per_class_;
  std::size_t per_held_queue_;
  bool mixed_ = false;               // not all tasks so far were normal
  std::vector<OfHandler> handlers_;  // by number
  std::unique_ptr<Known> known_;
  std::size_t picked_ = 0;
  std::size_t suspects_ = 0;                     // suspects that wait
  std::array<std::size_t, kClasses> waiting_{};  // in queues, by TaskClass
  std::size_t turn_ = 0;                         // of handlers
  std::size_t class_turn_ = 0;                   // into the order of classes
  std::size_t left_ = 0;                         // tasks left in the turn of a class
};

}  // namespace easyretry::engine
