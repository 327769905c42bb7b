#pragma once
// Decides what to claim, and when. Due tasks come in from any thread, wait in the wheel for their time, then in queues
// for a worker, and go out in batches to the next free Claimer. Bounded: tasks that do not fit are read again later.
//
// While one Claimer waits for the store, another one watches the time, so that no due task waits behind a slow reply.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/context.h"
#include "engine/ready.h"
#include "engine/wheel.h"
#include "engine/workers.h"

namespace easyretry::engine {

// Two keep a store busy, even one on another machine; measured: four were not faster.
inline constexpr std::size_t kClaimers = 2;

// Lets a task whose next crash would be its last run alone: nothing else is claimed before it begins and while it runs,
// so that it is not quarantined for another task's crash. Others are held back for a second at most, twice (before it
// begins, and while it runs), and are served for as long again before the next one.
//
//   free ──ask──► quieting ──begin──► running ──end──► free, after a rest
//
// One thread at a time: the Schedule owns it.
class Isolation {
 public:
  static constexpr Millis kLongest{1000};

  // A task waits to run alone. `quiet`: nothing else runs or is being claimed. True: it may begin now. False: others
  // are held back, unless one runs alone already or others have their turn.
  bool ask(Instant now, bool quiet);
  void begin(TaskId id, Instant now);
  void end(Instant now);
  std::optional<TaskId> alone() const { return alone_; }
  bool holds_others(Instant now) const;

 private:
  std::optional<TaskId> alone_{};
  std::optional<Instant> asked_at_{};
  Instant begun_at_{};
  Instant rest_until_ = Instant::min();
};

class Schedule {
 public:
  Schedule(Context& context, const InFlight& in_flight, Workers& workers);

  // Tasks that exceed the budget are not taken: the next scan finds them again.
  void offer(std::span<const DueTask> tasks);
  // How many more tasks may be held in memory.
  std::size_t room() const;
  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  // The held tasks that wait for their due time.
  std::size_t in_wheel() const;
  // Due tasks of one handler that wait to be claimed, and the retries among them that wait apart.
  std::size_t ready(std::uint32_t handler) const;
  std::size_t retries_apart(std::uint32_t handler) const;
  // The held tasks that are due and wait for a worker, by TaskClass.
  std::array<std::size_t, kClasses> due_by_class() const;
  // As in Ready: room_for for a task that is due, and leave_out.
  std::size_t room_for(const Line& line);
  void leave_out(const Line& line);
  // The Loader left tasks out for lack of room: take_reload_wanted() says when half of the memory is free again.
  void want_room() {
    refused_ = true;
    wakeup().notify();
  }
  // There is room again: the tasks that were left out should be read now.
  bool take_reload_wanted() { return reload_wanted_.exchange(false); }
  // `loader` is notified when take_reload_wanted() has become true. Before anything is stepped.
  void reload_with(Wakeup& loader) { loader_ = &loader; }
  // Removes tasks from memory, except those being claimed. Later tasks of paused handlers are not taken in the first
  // place; those that are here when the pause begins have to be removed by this.
  void forget(const std::function<bool(const DueTask&)>& gone);
  // Tasks that are due within `window` are held from now on.
  void look_ahead(Millis window);
  // Nothing is given out from now on.
  void stop();
  bool stopped() const { return stopped_; }

  // For the Claimers, each with its number. Gives due tasks for which the workers have room; each goes to one Claimer,
  // and to no other before that one has reported back. True: there is a free worker for each of them.
  bool take(std::size_t claimer, std::vector<DueTask>& batch);
  void claimed(std::span<const DueTask> batch);   // by this or another instance
  void put_back(std::span<const DueTask> batch);  // the claim could not be sent
  // The store did not answer: nothing is given out for a while, longer each time until something is claimed() again.
  void pause();
  bool paused() const { return context_.clock.steady() < paused_until_.load(); }
  // When this Claimer should look again unless it is woken up: never, if another Claimer looks in time.
  Instant watch(std::size_t claimer);

  Wakeup& wakeup() { return context_.claiming; }  // of all Claimers

 private:
  void take_offers();
  void take_due(TimePoint now);
  void put(const DueTask& task, TimePoint now);
  void make_ready(const DueTask& task);
  void follow(const std::shared_ptr<const HandlerTable>& table);
  bool pick(std::vector<DueTask>& batch);
  std::size_t room_for_start(const Line& line, const KnownHandler& known, std::size_t startable);
  void pick_suspects(std::size_t most, std::vector<DueTask>& batch);
  bool knows(Circuit& circuit);
  void ask_for_brakes(const HandlerTable& table) const;
  void end_claiming(std::span<const DueTask> batch) const;
  std::size_t free_workers() const;
  bool is_last_chance(const DueTask& task) const;
  bool may_run_alone(Instant now);
  void notice_end_of_isolation();
  bool all_begin_at_once(std::span<const DueTask> batch) const;
  void want_reload_if_room();
  bool watched(TimePoint due) const;

  Context& context_;
  const InFlight& in_flight_;
  Workers& workers_;
  Wakeup* loader_ = nullptr;

  std::mutex inbox_mutex_;
  std::vector<DueTask> inbox_;        // guarded by inbox_mutex_
  std::atomic<std::size_t> held_{0};  // inbox + wheel + ready, including those being claimed
  std::atomic<bool> refused_{false};  // a task did not fit
  std::atomic<bool> reload_wanted_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<Instant> paused_until_{Instant::min()};

  mutable std::mutex mutex_;    // guards the rest
  std::optional<Wheel> wheel_;  // always there; another one when the window changes
  Ready ready_;
  std::shared_ptr<const HandlerTable> table_;  // as ready_ knows it
  std::vector<DueTask> offers_;
  std::vector<DueTask> due_;
  std::array<Instant, kClaimers> watches_{};  // when each Claimer will look by itself
  Isolation isolation_;
  bool claiming_alone_ = false;    // the task that is to run alone is being claimed
  bool suspects_blocked_ = false;  // some wait for a free worker here: nothing is claimed ahead of the workers
  int failures_ = 0;
};

}  // namespace easyretry::engine
