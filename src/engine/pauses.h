#pragma once
// Paused handlers: KnownPauses is what this instance knows of them, PauseWatch keeps it up to date.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "engine/orders.h"
#include "engine/wakeup.h"

namespace easyretry::storage {
struct PausedReply;
}

namespace easyretry::engine {

struct Context;
class Schedule;

// Orders of operators besides pauses, stored in the same list.
struct Orders {
  CircuitOrders circuits;
  LimitOrders limits;

  bool any() const { return !circuits.empty() || !limits.empty(); }
  friend bool operator==(const Orders&, const Orders&) = default;
};

// Removes the orders from the list.
Orders take_orders(storage::PausedReply& reply);

// After a pause nothing is claimed for longer than this, whatever happens to the watch.
inline constexpr auto kPausesKnownFor = std::chrono::seconds{2};

// Which handlers are paused, as far as this instance knows, and whether that is recent enough to claim by it.
//
// A caller that pauses a handler relies on it a moment later, so an old answer of the store is renewed before anything
// is claimed. A store that answered once and now fails is no reason to stop working: its last answer counts until it
// answers again. Thread-safe.
class KnownPauses {
 public:
  using Names = std::set<std::string, std::less<>>;

  bool recent(Instant now) const { return known_.load() == paused_here_.load() && now < good_until_.load(); }
  bool any() const { return any_.load(); }
  std::shared_ptr<const Names> snapshot() const {
    const std::lock_guard lock{mutex_};
    return names_;
  }
  std::shared_ptr<const Orders> orders() const {
    const std::lock_guard lock{mutex_};
    return orders_;
  }
  bool contains(std::string_view handler) const { return any() && snapshot()->contains(handler); }

  // A Claimer has tasks to claim, and the known pauses are too old.
  void want() {
    wanted_ = true;
    wakeup.notify();
  }

  // A handler was paused through this instance. Answers to questions that were asked before do not count any more.
  void paused_here() { ++paused_here_; }

  // For the PauseWatch: the store's answer to a question asked at `asked`, after so many pauses through this instance.
  std::uint64_t pauses_here() const { return paused_here_; }
  void learn(Names names, Orders orders, Instant asked, std::uint64_t pauses_here) {
    {
      const std::lock_guard lock{mutex_};
      any_ = !names.empty() || orders.any();
      orders_ = std::make_shared<const Orders>(std::move(orders));
      names_ = std::make_shared<const Names>(std::move(names));
    }
    good_until_ = asked + kPausesKnownFor;
    known_ = pauses_here;
  }
  void store_did_not_answer() {
    if (good_until_.load() != Instant::min()) good_until_ = Instant::max();
  }
  bool wanted() const { return wanted_; }
  void asked() { wanted_ = false; }

  Wakeup wakeup;  // the PauseWatch's

 private:
  std::atomic<Instant> good_until_{Instant::min()};  // min: the store has never answered
  std::atomic<std::uint64_t> paused_here_{0};
  std::atomic<std::uint64_t> known_{0};  // how many of the pauses through this instance are in names_
  std::atomic<bool> any_{false};
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const Names> names_ = std::make_shared<Names>();  // guarded by mutex_; the set itself never changes
  std::shared_ptr<const Orders> orders_ = std::make_shared<Orders>();  // likewise
};

// Asks the store which handlers are paused: every second while there is something to claim or a handler is paused, and
// before the first claim after a time without either. An idle instance asks nothing.
class PauseWatch {
 public:
  // `changed` is called when the set of paused handlers, or an order, has changed.
  PauseWatch(Context& context, const Schedule& schedule, std::function<void()> changed)
      : context_(context), schedule_(schedule), changed_(std::move(changed)) {}

  Step step();
  // Asks with the next step. From any thread.
  void look_now();

 private:
  void heard(storage::PausedReply reply, Instant asked, std::uint64_t pauses_here);
  void give_orders(const Orders& orders);

  Context& context_;
  const Schedule& schedule_;
  const std::function<void()> changed_;
  std::atomic<bool> now_{false};

  // The watching thread's own
  Instant next_ = Instant::min();
  int failures_ = 0;
};

}  // namespace easyretry::engine
