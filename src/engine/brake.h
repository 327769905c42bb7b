#pragma once
// A brake limits how many tasks of its handlers run at a time (`running`) and start per second (`per_second`), on all
// instances of a namespace together. Tasks that it holds back stay in the store as they are.
//
// Running tasks have seats, of which each instance has some (seats.h). A claimed task holds its seat until it is
// settled. The rate is divided in the same way: an instance with half of the shares starts half as many.
//
// Seats of an instance that dies are free again when its announcement expires, which is after the leases of its tasks:
// an instance neither claims under a brake nor renews a lease unless its announcement is recent. So an instance that
// does not hear from the store stops starting tasks before others can take its seats.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <easyretry/options.h>

#include "engine/seats.h"

namespace easyretry::engine {

// The tasks of one handler that this instance holds.
struct Holdings {
  std::atomic<std::int64_t> claiming{0};  // being claimed, or perhaps claimed by a call whose reply was lost
  std::atomic<std::int64_t> claimed{0};   // and not yet settled
};

// The announcement of an instance about one brake, for the other instances.
struct BrakeReport {
  SeatReport seats{};
  SeatReport shares{};
  Instant empty_at = Instant::min();  // when it had no starts left, as if it had all shares
};

// Thread-safe.
class Brake {
 public:
  static constexpr std::int64_t kShares = 1'000'000;

  // The announcement of an instance lives for `lives`. Claims and renewals need one that is not older than `recent`.
  struct Times {
    Millis lives;
    Millis recent;
  };
  static Times times(Millis lease) { return {lease + lease / 4, lease / 10}; }

  void set(const LimitOptions& limit, std::vector<std::shared_ptr<const Holdings>> handlers);
  LimitOptions limit() const;

  // How many of `wanted` may start now. The caller says with keep() how many of them it has claimed, after it has
  // counted them in the Holdings.
  std::size_t reserve(Instant now, std::size_t wanted);
  void keep(Instant now, std::size_t reserved, std::size_t claimed);
  // When the rate allows the next start; max: it does not hold anything back.
  Instant next_start(Instant now);
  // A claimed task may begin: it has a seat.
  bool may_begin(Instant now) const;
  bool may_renew(Instant now) const;

  // Something waits for an answer of the store, or for seats that are free. For the BrakeWatch.
  bool is_wanted() const { return wanted_; }
  bool take_wanted() { return wanted_.exchange(false); }

  // --- For the BrakeWatch. An announcement is made and stored; after that, heard() may be called.

  // nullopt: it has no seats or shares, and wants none.
  std::optional<BrakeReport> announce(Instant now);
  bool asks_for_more() const;
  bool unsettled() const;  // the next exchange should not wait
  // `read_after`: the reports of the others were read after the announcement was stored.
  struct Heard {
    Instant sent;
    Instant received;
    bool read_after;
    Times times;
  };
  void heard(const Heard& when, const std::vector<BrakeReport>& others);
  // No other instance uses the store.
  void alone();

  struct View {
    LimitOptions limit;
    std::int64_t running;           // on this instance, including those being claimed
    std::int64_t seats;             // of this instance
    double per_second;              // the part of this instance
    std::optional<Instant> held{};  // since when it has held tasks back; nullopt: it does not
  };
  View view() const;

 private:
  // All under mutex_
  std::int64_t in_use() const;
  double rate() const;
  double most_at_once() const;
  double starts_left(Instant now) const;
  bool knows(Instant now) const;
  void note_held_back(Instant now);
  std::int64_t running_limit() const { return limit_.running.value_or(0); }

  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_
  LimitOptions limit_;
  std::vector<std::shared_ptr<const Holdings>> handlers_;
  bool alone_ = false;
  Seats seats_;
  Seats shares_;
  Instant recent_until_ = Instant::min();
  Instant lives_until_ = Instant::min();
  bool answered_ = false;
  std::int64_t reserved_ = 0;             // not yet kept
  std::array<std::int64_t, 3> wishes_{};  // for seats, of the last seconds
  Instant wishes_since_ = Instant::min();
  Instant empty_at_ = Instant::min();
  Instant held_back_at_ = Instant::min();
  Instant held_since_ = Instant::min();  // min: the last tasks that wanted to start could start
};

using Brakes = std::vector<std::shared_ptr<Brake>>;

// Starts that all brakes of a handler allow. Its destructor returns those that were not used for a claim.
class Reservation {
 public:
  Reservation(const Brakes& brakes, Instant now, std::size_t wanted);
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  std::size_t room() const { return room_; }
  void claim(Holdings& holdings, std::size_t count);

 private:
  const Brakes& brakes_;
  const Instant now_;
  std::vector<std::size_t> reserved_;  // of each brake
  std::size_t room_;
  std::size_t claimed_ = 0;
};

}  // namespace easyretry::engine
