#include "sim/process.h"

#include <algorithm>

#include "sim/wakeup_peek.h"

namespace easyretry::sim {

using namespace std::chrono_literals;

// A woken thread runs some tens of microseconds later; on a busy machine it may take a good part of a second.
Time Process::wake_up_delay() {
  if (dice_.chance(0.01)) return dice_.between(Time{0}, Time{300ms});
  return dice_.between(Time{10us}, Time{200us});
}

void Process::spawn(std::function<void()> body) {
  Thread& thread = threads_.emplace_back(std::move(body));
  wake(thread, scheduler_.now() + wake_up_delay());
}

void Process::sleep(Time how_long) {
  if (Fiber::killed()) throw Killed{};
  wake(*running_, scheduler_.now() + how_long);
  Fiber::suspend();
}

bool Process::sleep_unless(const std::stop_token& stop, Time how_long) {
  if (stop.stop_requested()) return true;
  Thread& me = *running_;
  const std::stop_callback on_stop{stop, [&] { wake(me, scheduler_.now() + wake_up_delay()); }};
  sleep(how_long);
  return stop.stop_requested();
}

void Process::wait(engine::Wakeup& wakeup, Time until) {
  if (Fiber::killed()) throw Killed{};
  Thread& me = *running_;
  if (!notified(wakeup)) {
    if (until != Time::max()) wake(me, std::max(until, scheduler_.now()) + wake_up_delay());
    me.wakeup = &wakeup;
    Fiber::suspend();
    me.wakeup = nullptr;
  }
  take_notification(wakeup);
}

void Process::die() {
  dying_ = true;
  while (true) Fiber::suspend();
}

void Process::kill() {
  for (Thread& thread : threads_) unschedule(thread);
  // Unwinding one may look at what another holds, but never resumes it.
  while (!threads_.empty()) {
    running_ = &threads_.front();
    threads_.pop_front();
  }
  running_ = nullptr;
}

void Process::notice_wakeups() {
  for (Thread& thread : threads_) {
    if (thread.wakeup == nullptr || !notified(*thread.wakeup)) continue;
    thread.wakeup = nullptr;  // it is on its way
    wake(thread, scheduler_.now() + wake_up_delay());
  }
}

void Process::wake(Thread& thread, Time at) {
  unschedule(thread);
  thread.wake = scheduler_.at(at, [this, &thread] {
    thread.wake.reset();
    run(thread);
  });
}

void Process::unschedule(Thread& thread) {
  if (thread.wake) scheduler_.cancel(*thread.wake);
  thread.wake.reset();
}

void Process::run(Thread& thread) {
  if (scheduler_.now() < paused_until_) return wake(thread, paused_until_ + dice_.between(Time{0}, Time{1ms}));
  running_ = &thread;
  thread.fiber.resume();
  running_ = nullptr;
  if (thread.fiber.done()) threads_.remove_if([&](const Thread& other) { return &other == &thread; });
  if (dying_) {
    for (Thread& other : threads_) unschedule(other);
    return on_death();
  }
  notice_wakeups();
}

}  // namespace easyretry::sim
