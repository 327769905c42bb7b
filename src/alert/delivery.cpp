#include "alert/delivery.h"

#include <algorithm>

#include <pthread.h>

namespace easyretry::alert {
namespace {

Instant now() {
  return system_clock().steady();
}

constexpr Millis kTimeToFinish{3000};

// A channel must not end the program. It throws only if memory runs out or OpenSSL fails.
SendResult try_to_send(Channel& channel, const Message& message, const std::string& id, const std::stop_token& stop) {
  try {
    return channel.send(message, id, stop);
  } catch (const std::exception& e) {
    return {.worth_retrying = true, .why = e.what()};
  }
}

}  // namespace

void AlertQueue::feed(const Event& event) {
  if (!rules_.wants(event.kind)) return;
  const std::lock_guard lock{mutex_};
  if (rules_.feed(event, now())) changed_.notify_all();
}

void AlertQueue::feed_backlog(const std::string& name_space, const std::map<std::string, Millis>& ages, bool complete) {
  const std::lock_guard lock{mutex_};
  if (rules_.feed_backlog(name_space, ages, complete, now())) changed_.notify_all();
}

void AlertQueue::feed_circuits(const std::string& name_space, const std::vector<Rules::OpenCircuit>& open) {
  const std::lock_guard lock{mutex_};
  if (rules_.feed_circuits(name_space, open, now())) changed_.notify_all();
}

void AlertQueue::tick() {
  const std::lock_guard lock{mutex_};
  if (rules_.tick(now())) changed_.notify_all();
}

std::optional<Message> AlertQueue::next(const std::string& channel, const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    if (auto message = rules_.next(channel, now())) return message;
    const Instant wait_until = rules_.next_at(channel);
    const auto sooner = [&] { return rules_.next_at(channel) < wait_until; };
    if (wait_until == Instant::max()) {
      changed_.wait(lock, stop, sooner);
    } else {
      changed_.wait_until(lock, stop, wait_until, sooner);
    }
  }
  return std::nullopt;
}

std::optional<Message> AlertQueue::last(const std::string& channel) {
  const std::lock_guard lock{mutex_};
  rules_.skip_waits(now());
  return rules_.next(channel, now());
}

std::optional<Millis> AlertQueue::take_turn(const std::string& channel) {
  const std::lock_guard lock{mutex_};
  return rules_.take_turn(channel, now());
}

bool AlertQueue::sleep(Millis time, const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

void SentMessages::note(Sent sent) {
  const std::lock_guard lock{mutex_};
  latest_.push_front(std::move(sent));
  if (latest_.size() > kMost) latest_.pop_back();
}

std::vector<Sent> SentMessages::latest() const {
  const std::lock_guard lock{mutex_};
  return {latest_.begin(), latest_.end()};
}

Sender::Sender(std::string name, std::unique_ptr<Channel> channel, AlertQueue& queue, SentMessages& sent, LogSink log,
               SendPauses pauses)
    : name_(std::move(name)),
      channel_(std::move(channel)),
      queue_(queue),
      sent_(sent),
      log_(std::move(log)),
      pauses_(pauses),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Sender::~Sender() {
  stop();
  thread_.join();
}

void Sender::stop() {
  if (timer_.joinable()) return;
  thread_.request_stop();
  timer_ = std::jthread{[this](const std::stop_token& done) {
    if (queue_.sleep(kTimeToFinish, done)) over_.request_stop();
  }};
}

void Sender::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "er-alert");
  while (const auto message = queue_.next(name_, stop)) deliver(*message, stop);
  while (const auto message = queue_.last(name_)) deliver(*message, stop);
}

void Sender::deliver(const Message& message, const std::stop_token& stop) {
  const std::string id = new_message_id();
  SendResult result = try_to_send(*channel_, message, id, over_.get_token());
  std::size_t tries = 1;
  for (const Millis pause : pauses_.between) {
    if (result.arrived || !result.worth_retrying || stop.stop_requested()) break;
    queue_.sleep(std::clamp(result.retry_after.value_or(pause), pause, pauses_.longest), stop);
    result = try_to_send(*channel_, message, id, over_.get_token());
    ++tries;
  }
  count(message, result, tries);
}

void Sender::count(const Message& message, const SendResult& result, std::size_t tries) {
  sent_.note({system_clock().now(), name_, message, tries, result.arrived, result.why});
  if (result.arrived) {
    ++delivered_;
    return;
  }
  ++failed_;
  log_(LogLevel::warning, "alerts: channel " + name_ + " did not accept \"" + headline(message) + "\" after " +
                              std::to_string(tries) + (tries == 1 ? " try: " : " tries: ") + result.why);
}

}  // namespace easyretry::alert
