#pragma once
// Which handlers are paused, as far as this instance knows, and whether that is known well enough to claim by it.
//
// Somebody who pauses a handler counts on it a moment later, so what was heard too long ago is asked for again before
// anything is claimed: the PauseWatch does that. A store that once said and now fails to is no reason to stand still:
// what it said last counts until it answers again. Thread-safe.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "engine/bell.h"

namespace easyretry::engine {

// After a pause nothing is claimed for longer than this, whatever becomes of the watch.
inline constexpr auto kPausesKnownFor = std::chrono::seconds{2};

class KnownPauses {
 public:
  using Names = std::set<std::string, std::less<>>;

  bool claim_by_them(Instant now) const { return now < good_until_.load(); }
  bool any() const { return any_.load(); }
  std::shared_ptr<const Names> snapshot() const {
    const std::lock_guard lock{mutex_};
    return names_;
  }
  bool contains(std::string_view handler) const { return any() && snapshot()->contains(handler); }

  // Somebody wants to claim, and what is known is too old.
  void want() {
    wanted_ = true;
    bell.ring();
  }

  // For the PauseWatch. What the store said when it was asked at `asked`.
  void learn(Names names, Instant asked) {
    {
      const std::lock_guard lock{mutex_};
      any_ = !names.empty();
      names_ = std::make_shared<const Names>(std::move(names));
    }
    good_until_ = asked + kPausesKnownFor;
  }
  void not_told() {
    if (good_until_.load() != Instant::min()) good_until_ = Instant::max();
  }
  bool wanted() const { return wanted_; }
  void asked() { wanted_ = false; }

  Bell bell;  // the PauseWatch's

 private:
  std::atomic<Instant> good_until_{Instant::min()};  // min: the store has never said
  std::atomic<bool> any_{false};
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const Names> names_ = std::make_shared<Names>();  // guarded by mutex_; the set itself never changes
};

}  // namespace easyretry::engine
