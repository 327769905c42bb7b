#pragma once
// Turns due tasks into claimed ones: owns the wheel and what is ready, claims in batches as large as the moment asks
// for (one when idle, hundreds when loaded), and never more than the workers can soon run.

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "engine/bell.h"
#include "engine/context.h"
#include "engine/holdings.h"
#include "engine/ready.h"
#include "engine/step.h"
#include "engine/wheel.h"
#include "engine/workers.h"

namespace easyretry::engine {

struct Offer {
  WheelEntry entry;
  TimePoint due{};
};

class Claimer {
 public:
  Claimer(Context& context, Holdings& holdings, Workers& workers);

  // From any thread. What does not fit the budget is not taken: the next scan finds it again.
  void offer(std::span<const Offer> offers);
  // How many more tasks may be held in memory.
  std::size_t room() const;
  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  // Something was left out for want of room: take_hungry() says when half of it is free again.
  void want_room() {
    refused_ = true;
    bell.ring();
  }
  // Room became free after a time without: what was left out should be read now.
  bool take_hungry() { return hungry_.exchange(false); }

  // From the claiming thread.
  Step step();
  // Claims nothing from now on.
  void stop();
  // Entries for which `gone` holds leave memory at the next step.
  void forget(std::function<bool(const WheelEntry&)> gone);

  Bell& bell;
  Bell* loader_bell = nullptr;

 private:
  void take_offers();
  void take_due(TimePoint now);
  void put(const WheelEntry& entry, TimePoint due, TimePoint now);
  void make_ready(const WheelEntry& entry);
  bool claim_ready();
  void clear_doubt();
  Result<std::vector<task::TaskRecord>> look(std::span<const task::Ticket> tickets);
  void claimed(std::vector<task::TaskRecord> won, std::size_t asked, Instant sent);
  void deliver(std::vector<task::TaskRecord> won, Instant sent);
  void pause();
  Step next(bool worked) const;
  void apply_forget();
  void notice_hunger();

  Context& context_;
  Holdings& holdings_;
  Workers& workers_;

  std::mutex inbox_mutex_;
  std::vector<Offer> inbox_;                       // guarded by inbox_mutex_
  std::function<bool(const WheelEntry&)> forget_;  // guarded by inbox_mutex_
  std::atomic<std::size_t> held_{0};               // inbox + wheel + ready + doubtful
  std::atomic<bool> refused_{false};               // an offer did not fit
  std::atomic<bool> hungry_{false};
  std::atomic<bool> stopped_{false};

  // The claiming thread's own
  Wheel wheel_;
  Ready ready_;
  std::vector<Offer> offers_;
  std::vector<DueEntry> due_;
  std::vector<WheelEntry> picked_;
  std::vector<task::Ticket> tickets_;
  std::vector<task::Ticket>
      doubtful_;  // claimed or not: the reply was lost. Nothing else is claimed before that is known
  Instant doubtful_since_ = Instant::min();
  int failures_ = 0;
  Instant paused_until_ = Instant::min();
};

}  // namespace easyretry::engine
