#pragma once
// Tasks whose moment has come, waiting for a free worker: one queue a handler, served in turn, so that a kind that is
// slow waits behind itself only. What was picked stays known until it is released, so that the same task, read again
// meanwhile, is not claimed by two. A task that comes twice is asked for in its newest version: a scan may bring one
// that was read before it was last run, and must not stand in the way of its retry. Tasks under suspicion have queues
// of their own. One thread at a time: the Schedule owns it.

#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "engine/known_versions.h"
#include "engine/wheel.h"

namespace easyretry::engine {

class Ready {
 public:
  explicit Ready(std::size_t per_handler) : per_handler_(per_handler) {}
  // At most this many of one handler; the rest stays in the store and is read again later.
  void limit(std::size_t per_handler) { per_handler_ = per_handler; }

  // False: it is here or picked already, in this version or made so, or its handler's queue is full.
  bool add(const WheelEntry& entry);

  // Takes up to `limit`, from each handler no more than room(handler) says, one handler after the other.
  // room(handler, picked) is told how many of it are picked and not released.
  void pick(const std::function<std::size_t(std::uint16_t, std::size_t)>& room, std::size_t limit,
            std::vector<WheelEntry>& out);
  // Goes through the tasks under suspicion, one handler after the other. choose(entry, picked) is told how many tasks
  // of its handler are picked and not released.
  enum class Choice { take, leave, next_handler };
  void pick_suspects(const std::function<Choice(const WheelEntry&, std::size_t)>& choose, std::vector<WheelEntry>& out);
  // The end of being picked: back to the head, after a claim that could not be made…
  void put_back(std::span<const WheelEntry> picked);
  // …or gone, claimed by us or by somebody else; but not those of which a newer version has come. Gives their number.
  std::size_t release(std::span<const WheelEntry> picked);

  void remove_if(const std::function<bool(const WheelEntry&)>& gone);

  std::size_t size() const { return known_.size() - picked_; }
  std::size_t picked() const { return picked_; }
  std::size_t picked(std::uint16_t handler) const { return handler < queues_.size() ? queues_[handler].picked : 0; }
  bool has_suspects() const { return suspects_ > 0; }
  // A queue overflowed since the last call and has room again, so what was left out should be read.
  bool take_hungry();

 private:
  struct Queue {
    std::deque<WheelEntry> entries;
    std::deque<WheelEntry> suspects;
    std::size_t picked = 0;
    bool overflowed = false;

    std::size_t size() const { return entries.size() + suspects.size(); }
  };
  Queue& queue(std::uint16_t handler);
  std::deque<WheelEntry>& line(Queue& queue, const WheelEntry& entry);

  std::size_t per_handler_;
  std::vector<Queue> queues_;  // by handler number
  KnownVersions known_;        // waiting or picked
  std::size_t picked_ = 0;
  std::size_t suspects_ = 0;  // that wait
  std::size_t turn_ = 0;
};

}  // namespace easyretry::engine
