#pragma once
// What is to be claimed, and when: offers come in from any thread, wait in the wheel for their moment and then for a
// worker, and go out in batches to whichever Claimer has time. Bounded: what does not fit is read again later.
//
// While one Claimer waits for the store, another keeps the watch, so that nothing due waits behind a slow reply.

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/isolation.h"
#include "engine/ready.h"
#include "engine/wheel.h"
#include "engine/workers.h"

namespace easyretry::engine {

// Two keep a store busy, also one that answers from another machine; measured, four gave nothing.
inline constexpr std::size_t kClaimers = 2;

struct Offer {
  WheelEntry entry;
  TimePoint due{};
};

class Schedule {
 public:
  Schedule(Context& context, const Holdings& holdings, Workers& workers);

  // What does not fit the budget is not taken: the next scan finds it again.
  void offer(std::span<const Offer> offers);
  // How many more tasks may be held in memory.
  std::size_t room() const;
  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  // Of them, those that wait for their moment.
  std::size_t in_wheel() const;
  // Something was left out for want of room: take_hungry() says when half of it is free again.
  void want_room() {
    refused_ = true;
    bell.ring();
  }
  // Room became free after a time without: what was left out should be read now.
  bool take_hungry() { return hungry_.exchange(false); }
  // Entries of paused handlers leave memory by themselves if they come later, and by this if they are there. Entries
  // for which `gone` holds leave memory, but for those being claimed.
  void forget(const std::function<bool(const WheelEntry&)>& gone);
  // Nothing is given out from now on.
  void stop();
  bool stopped() const { return stopped_; }

  // For the Claimers, each with its number. What is due and the workers have room for; each entry is given to one
  // Claimer, and to no other until that one has said what became of it. True: there is a free worker for each of them.
  bool take(std::size_t claimer, std::vector<WheelEntry>& batch);
  void claimed(std::span<const WheelEntry> batch);   // by us or by somebody else
  void put_back(std::span<const WheelEntry> batch);  // it could not be asked for
  // The store did not answer: nothing is given out for a while, longer each time until it is claimed() again.
  void pause();
  bool paused() const { return context_.clock.steady() < paused_until_.load(); }
  // When this Claimer should look again unless the bell rings: never, where another one does so in time.
  Instant watch(std::size_t claimer);

  Bell& bell;  // of all Claimers
  Bell* loader_bell = nullptr;

 private:
  void take_offers();
  void take_due(TimePoint now);
  void put(const WheelEntry& entry, TimePoint due, TimePoint now);
  void make_ready(const WheelEntry& entry);
  bool pick(std::vector<WheelEntry>& batch);
  void pick_suspects(std::size_t most, std::vector<WheelEntry>& batch);
  std::size_t free_workers() const;
  bool is_last_chance(const WheelEntry& entry) const;
  bool may_run_alone(Instant now);
  void notice_end_of_isolation();
  bool all_begin_at_once(std::span<const WheelEntry> batch) const;
  void notice_hunger();
  bool watched(TimePoint due) const;

  Context& context_;
  const Holdings& holdings_;
  Workers& workers_;

  std::mutex inbox_mutex_;
  std::vector<Offer> inbox_;          // guarded by inbox_mutex_
  std::atomic<std::size_t> held_{0};  // inbox + wheel + ready, those being claimed among them
  std::atomic<bool> refused_{false};  // an offer did not fit
  std::atomic<bool> hungry_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<Instant> paused_until_{Instant::min()};

  mutable std::mutex mutex_;  // guards what follows
  Wheel wheel_;
  Ready ready_;
  std::vector<Offer> offers_;
  std::vector<DueEntry> due_;
  std::array<Instant, kClaimers> watches_{};  // when each will look by itself
  Isolation isolation_;
  bool claiming_alone_ = false;    // the task that is to run alone is being claimed
  bool suspects_blocked_ = false;  // some wait for a free worker here: nothing is claimed ahead of the workers
  int failures_ = 0;
};

}  // namespace easyretry::engine
