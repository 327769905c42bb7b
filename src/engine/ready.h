#pragma once
// Due tasks that wait for a free worker: one queue per handler, served in turn, so that a slow handler holds up only
// itself. One thread at a time: the Schedule owns it.
//
// A picked task stays known until it is released: if it is read again meanwhile, it is not claimed twice. A task that
// comes twice is claimed in its newest version: a scan may bring one that was read before its last run, and must not
// hold up its retry. Tasks under suspicion have queues of their own.

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "task/record.h"

namespace easyretry::engine {

using task::DueTask;

class Ready {
 public:
  explicit Ready(std::size_t per_handler);
  ~Ready();
  // At most this many of one handler; the rest stays in the store and is read again later.
  void limit(std::size_t per_handler) { per_handler_ = per_handler; }

  // False: it is here or picked already (in this version, or raised to it), or its handler's queue is full.
  bool add(const DueTask& task);

  // Takes up to `limit` tasks, one handler after the other, from each no more than room(handler, picked), where
  // `picked` is the number of its tasks that are picked and not released.
  void pick(const std::function<std::size_t(std::uint32_t, std::size_t)>& room, std::size_t limit,
            std::vector<DueTask>& out);
  // Goes through the tasks under suspicion, one handler after the other. choose(task, picked) gets the number of tasks
  // of its handler that are picked and not released.
  enum class Choice { take, leave, next_handler };
  void pick_suspects(const std::function<Choice(const DueTask&, std::size_t)>& choose, std::vector<DueTask>& out);
  // Picked tasks go back to the head of their queue, after a claim that could not be made …
  void put_back(std::span<const DueTask> picked);
  // … or leave, claimed by this or another instance. Those of which a newer version has come stay; returns their
  // number.
  std::size_t release(std::span<const DueTask> picked);

  void remove_if(const std::function<bool(const DueTask&)>& gone);

  std::size_t size() const;  // without the picked ones
  std::size_t picked() const { return picked_; }
  std::size_t picked(std::uint32_t handler) const { return handler < queues_.size() ? queues_[handler].picked : 0; }
  bool has_suspects() const { return suspects_ > 0; }
  // A queue overflowed since the last call and has room again, so what was left out should be read.
  bool take_reload_wanted();

 private:
  struct Queue {
    std::deque<DueTask> tasks;
    std::deque<DueTask> suspects;
    std::size_t picked = 0;
    bool overflowed = false;

    std::size_t size() const { return tasks.size() + suspects.size(); }
  };
  struct Known;  // newest version by id, waiting or picked

  Queue& queue(std::uint32_t handler);
  std::deque<DueTask>& line(Queue& queue, const DueTask& task);

  std::size_t per_handler_;
  std::vector<Queue> queues_;  // by handler number
  std::unique_ptr<Known> known_;
  std::size_t picked_ = 0;
  std::size_t suspects_ = 0;  // that wait
  std::size_t turn_ = 0;
};

}  // namespace easyretry::engine
