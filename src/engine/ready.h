#pragma once
// Tasks whose moment has come, waiting for a free worker: one queue a handler, served in turn, so that a kind that is
// slow waits behind itself only. One thread only: the Claimer owns it.

#include <deque>
#include <functional>
#include <unordered_set>
#include <vector>

#include "engine/wheel.h"

namespace easyretry::engine {

class Ready {
 public:
  explicit Ready(std::size_t per_handler) : per_handler_(per_handler) {}
  // At most this many of one handler; the rest stays in the store and is read again later.
  void limit(std::size_t per_handler) { per_handler_ = per_handler; }

  // False: it is here already, or its handler's queue is full.
  bool add(const WheelEntry& entry);
  // Back to the head, after a claim that could not be made.
  void put_back(const std::vector<WheelEntry>& entries);

  // Takes up to `limit`, from each handler no more than room(handler) says, one handler after the other.
  void pick(const std::function<std::size_t(std::uint16_t)>& room, std::size_t limit, std::vector<WheelEntry>& out);

  void remove_if(const std::function<bool(const WheelEntry&)>& gone);

  std::size_t size() const { return ids_.size(); }
  // A queue overflowed since the last call and has room again, so what was left out should be read.
  bool take_hungry();

 private:
  struct Queue {
    std::deque<WheelEntry> entries;
    bool overflowed = false;
  };
  Queue& queue(std::uint16_t handler);

  std::size_t per_handler_;
  std::vector<Queue> queues_;  // by handler number
  std::unordered_set<TaskId> ids_;
  std::size_t turn_ = 0;
};

}  // namespace easyretry::engine
