#pragma once
// Paused handlers: KnownPauses is what this instance knows of them, PauseWatch keeps it up to date.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "engine/wakeup.h"

namespace easyretry::storage {
struct PausedReply;
}

namespace easyretry::engine {

struct Context;
class Schedule;

// After a pause nothing is claimed for longer than this, whatever happens to the watch.
inline constexpr auto kPausesKnownFor = std::chrono::seconds{2};

// Which handlers are paused, as far as this instance knows, and whether that is recent enough to claim by it.
//
// A caller who pauses a handler relies on it a moment later, so an old answer of the store is refreshed before anything
// is claimed. A store that answered once and now fails is no reason to stop working: its last answer counts until it
// answers again. Thread-safe.
class KnownPauses {
 public:
  using Names = std::set<std::string, std::less<>>;

  bool recent(Instant now) const { return now < good_until_.load(); }
  bool any() const { return any_.load(); }
  std::shared_ptr<const Names> snapshot() const {
    const std::lock_guard lock{mutex_};
    return names_;
  }
  bool contains(std::string_view handler) const { return any() && snapshot()->contains(handler); }

  // A Claimer has something to claim, and what is known is too old.
  void want() {
    wanted_ = true;
    wakeup.notify();
  }

  // For the PauseWatch: the store's answer to a question asked at `asked`.
  void learn(Names names, Instant asked) {
    {
      const std::lock_guard lock{mutex_};
      any_ = !names.empty();
      names_ = std::make_shared<const Names>(std::move(names));
    }
    good_until_ = asked + kPausesKnownFor;
  }
  void store_did_not_answer() {
    if (good_until_.load() != Instant::min()) good_until_ = Instant::max();
  }
  bool wanted() const { return wanted_; }
  void asked() { wanted_ = false; }

  Wakeup wakeup;  // the PauseWatch's

 private:
  std::atomic<Instant> good_until_{Instant::min()};  // min: the store has never answered
  std::atomic<bool> any_{false};
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const Names> names_ = std::make_shared<Names>();  // guarded by mutex_; the set itself never changes
};

// Asks the store which handlers are paused: every second while there is something to claim or something is paused, and
// before the first claim after a time without either. An idle instance asks nothing.
class PauseWatch {
 public:
  // `changed` is called when the set of paused handlers has changed.
  PauseWatch(Context& context, const Schedule& schedule, std::function<void()> changed)
      : context_(context), schedule_(schedule), changed_(std::move(changed)) {}

  Step step();
  // Asks with the next step. From any thread.
  void look_now();

 private:
  void heard(const storage::PausedReply& reply, Instant asked);

  Context& context_;
  const Schedule& schedule_;
  const std::function<void()> changed_;
  std::atomic<bool> now_{false};

  // The watching thread's own
  Instant next_ = Instant::min();
  int failures_ = 0;
};

}  // namespace easyretry::engine
