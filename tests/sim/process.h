#pragma once
// One virtual operating-system process: threads that sleep, wait for a wakeup, are stopped and continued, and die
// together in the middle of whatever they do.

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <stop_token>

#include "engine/wakeup.h"
#include "sim/dice.h"
#include "sim/fiber.h"
#include "sim/scheduler.h"

namespace easyretry::sim {

class Process {
 public:
  Process(Scheduler& scheduler, Dice& dice) : scheduler_(scheduler), dice_(dice) {}
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Scheduler& scheduler() { return scheduler_; }

  // A thread; it starts a moment later, as threads do.
  void spawn(std::function<void()> body);

  // On one of its threads.
  void sleep(Time how_long);
  // Sleeps less when `stop` is requested; true if it was.
  bool sleep_unless(const std::stop_token& stop, Time how_long);
  // As Wakeup::wait_until, `until` in the world's time.
  void wait(engine::Wakeup& wakeup, Time until);
  // kill -9 by itself. Does not return, but by unwinding.
  [[noreturn]] void die();

  // From outside.
  void pause_until(Time until) { paused_until_ = std::max(paused_until_, until); }
  Time paused_until() const { return paused_until_; }
  void kill();
  // Wakeups were notified from outside: the threads that wait for them wake up.
  void notice_wakeups();

  std::function<void()> on_death;  // one of its threads called die(): none of them runs again; kill() is to follow

 private:
  struct Thread {
    explicit Thread(std::function<void()> body) : fiber(std::move(body)) {}
    Fiber fiber;
    std::optional<Scheduler::Key> wake{};
    engine::Wakeup* wakeup = nullptr;  // waited for
  };

  void wake(Thread& thread, Time at);
  void unschedule(Thread& thread);
  void run(Thread& thread);
  Time wake_up_delay();

  Scheduler& scheduler_;
  Dice& dice_;
  std::list<Thread> threads_;
  Thread* running_ = nullptr;
  Time paused_until_{0};
  bool dying_ = false;
};

}  // namespace easyretry::sim
