#pragma once
// One instance's part of a number that the instances of a namespace share: the seats of a limit on running tasks, or
// the shares of a rate.
//
// An instance announces how many seats it has or wants to take, and reads the announcements of the others after that.
// It takes what they leave. If two announce at the same time, each reads after its own announcement, so at least one of
// them sees the other, and both together never take more than there are. An announcement that grows is made
// before seats are taken, one that shrinks after they were given up.
//
// If there are fewer seats than wishes, each instance keeps a fair share of them: none gets more than it wishes, and
// those that get less get the same. The remainder goes to other instances every few seconds.
//
// One thread at a time: a Brake owns it.

#include <cstdint>
#include <span>
#include <vector>

namespace easyretry::engine {

struct SeatReport {
  std::int64_t seats = 0;   // the seats that it has, or is about to take
  std::int64_t wishes = 0;  // seats that it could use
  bool first = false;       // it is served before this instance where seats cannot be divided
};

// How many of `total` seats an instance with this many wishes should have.
std::int64_t fair_share(std::int64_t total, std::int64_t wishes, std::span<const SeatReport> others);

class Seats {
 public:
  // A task may start while fewer than this are in use. Less than ours() if others need seats.
  std::int64_t usable() const { return usable_; }
  // The seats that no other instance has.
  std::int64_t ours() const { return ours_; }

  // The next announcement. `in_use` is counted after usable() has changed, so it comes from a function. Gives up seats
  // that others need more.
  template <class InUse>
  SeatReport announce(std::int64_t total, std::int64_t wishes, InUse in_use) {
    give_up(total, wishes);
    return announcement(total, wishes, in_use());
  }
  // True: it asks for more than ours(), so the announcements of the others must be read after it was stored.
  bool asks_for_more() const { return announced_ > ours_; }
  // It was stored, and `others` are the other announcements. Takes no seats unless these were read after that.
  void heard(std::int64_t total, std::vector<SeatReport> others, bool read_after);
  // True: another exchange would give more, or give back seats that were announced in vain.
  bool unsettled(std::int64_t total) const;
  // True: other instances have left some seats free.
  bool some_are_free(std::int64_t total) const { return taken_by_others() + ours_ < total; }
  // The announcement may be forgotten by now.
  void lose() { usable_ = ours_ = 0; }
  // There are no others.
  void have(std::int64_t total) { usable_ = ours_ = total; }

 private:
  void give_up(std::int64_t total, std::int64_t wishes);
  void take(std::int64_t total);
  SeatReport announcement(std::int64_t total, std::int64_t wishes, std::int64_t in_use);
  std::int64_t taken_by_others() const;
  std::int64_t within_reach(std::int64_t total) const;

  std::int64_t usable_ = 0;
  std::int64_t ours_ = 0;
  std::int64_t announced_ = 0;
  std::int64_t wishes_ = 0;
  std::int64_t in_use_ = 0;  // at the last announcement
  std::vector<SeatReport> others_;
};

}  // namespace easyretry::engine
