#include "engine/events.h"

#include <condition_variable>
#include <deque>
#include <thread>
#include <utility>

namespace easyretry {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::stored: return "stored";
    case EventKind::claimed: return "claimed";
    case EventKind::attempt_failed: return "attempt failed";
    case EventKind::retry_scheduled: return "retry scheduled";
    case EventKind::succeeded: return "succeeded";
    case EventKind::gave_up: return "gave up";
    case EventKind::cancelled: return "cancelled";
    case EventKind::quarantined: return "quarantined";
    case EventKind::parked: return "parked";
    case EventKind::handed_back: return "handed back";
    case EventKind::lease_lost: return "lease lost";
    case EventKind::callback_failed: return "callback failed";
  }
  return "unknown";
}

namespace engine {
namespace {

constexpr std::size_t kQueueLength = 10'000;

void call(const EventListener& listener, const Event& event, Counters& counters) {
  try {
    listener(event);
  } catch (...) {
    Counters::add(counters.listener_failures);
  }
}

}  // namespace

class Events::Queue {
 public:
  Queue(EventListener listener, Counters& counters)
      : listener_(std::move(listener)), counters_(counters), thread_([this] { work(); }) {}

  ~Queue() {
    {
      const std::lock_guard lock{mutex_};
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void put(const Event& event) {
    {
      const std::lock_guard lock{mutex_};
      if (waiting_.size() >= kQueueLength) return Counters::add(counters_.events_dropped);
      waiting_.push_back(event);
    }
    changed_.notify_all();
  }

  void flush() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
  }

 private:
  void work() {
    std::unique_lock lock{mutex_};
    while (true) {
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Event event = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
      lock.unlock();
      call(listener_, event, counters_);
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  const EventListener listener_;
  Counters& counters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> waiting_;  // guarded by mutex_
  bool busy_ = false;          // guarded by mutex_
  bool closing_ = false;       // guarded by mutex_
  std::thread thread_;
};

Events::Events(Counters& counters) : counters_(counters) {}

Events::~Events() = default;

void Events::add(EventListener listener, Delivery delivery) {
  const std::lock_guard lock{mutex_};
  if (delivery == Delivery::queued) {
    queues_.push_back(std::make_unique<Queue>(std::move(listener), counters_));
  } else {
    auto next = std::make_shared<Listeners>(*direct_);
    next->push_back(std::move(listener));
    direct_ = std::move(next);
  }
  heard_ = true;
}

void Events::tell(const Event& event) {
  std::shared_ptr<const Listeners> direct;
  {
    const std::lock_guard lock{mutex_};
    direct = direct_;
    for (const auto& queue : queues_) queue->put(event);
  }
  for (const EventListener& listener : *direct) call(listener, event, counters_);
}

void Events::flush() {
  const std::lock_guard lock{mutex_};
  for (const auto& queue : queues_) queue->flush();
}

}  // namespace engine
}  // namespace easyretry
