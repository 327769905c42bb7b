#include "alert/desk.h"

namespace easyretry::alert {
namespace {

Instant now() {
  return system_clock().steady();
}

}  // namespace

void Desk::feed(const Event& event) {
  if (!rules_.wants(event.kind)) return;
  const std::lock_guard lock{mutex_};
  if (rules_.feed(event, now())) changed_.notify_all();
}

void Desk::feed_backlog(const std::string& space, const std::map<std::string, Millis>& ages, bool complete) {
  const std::lock_guard lock{mutex_};
  if (rules_.feed_backlog(space, ages, complete, now())) changed_.notify_all();
}

void Desk::tick() {
  const std::lock_guard lock{mutex_};
  if (rules_.tick(now())) changed_.notify_all();
}

std::optional<Message> Desk::next(const std::string& channel, const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    if (auto message = rules_.next(channel, now())) return message;
    const Instant asked_for = rules_.next_at(channel);
    const auto sooner = [&] { return rules_.next_at(channel) < asked_for; };
    if (asked_for == Instant::max()) {
      changed_.wait(lock, stop, sooner);
    } else {
      changed_.wait_until(lock, stop, asked_for, sooner);
    }
  }
  return std::nullopt;
}

std::optional<Message> Desk::last(const std::string& channel) {
  const std::lock_guard lock{mutex_};
  rules_.hurry(now());
  return rules_.next(channel, now());
}

bool Desk::sleep(Millis time, const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace easyretry::alert
