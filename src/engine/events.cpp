#include "engine/events.h"

#include <condition_variable>
#include <deque>
#include <memory>
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
    case EventKind::member_joined: return "member joined";
    case EventKind::member_left: return "member left";
    case EventKind::member_refused: return "member refused";
    case EventKind::shards_changed: return "shards changed";
    case EventKind::circuit_opened: return "circuit opened";
    case EventKind::circuit_closed: return "circuit closed";
    case EventKind::table_made: return "table made";
    case EventKind::table_emptied: return "table emptied";
    case EventKind::table_dropped: return "table dropped";
    case EventKind::history_dropped: return "history dropped";
  }
  return "unknown";
}

namespace engine {
namespace {

constexpr std::size_t kQueueLength = 10'000;

// An engine that ends waits this long for queued listeners.
constexpr Millis kLastEvents{2000};

// False: it threw.
bool call(const EventListener& listener, const Event& event) {
  try {
    listener(event);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

// The listener's thread knows only this, not the engine, which may be gone when a hanging listener returns.
class Events::Queue : public std::enable_shared_from_this<Events::Queue> {
 public:
  Queue(EventListener listener, Counters& counters) : listener_(std::move(listener)), counters_(&counters) {}

  void start() {
    thread_ = std::thread{[self = shared_from_this()] { self->work(); }};
  }

  // Lets the listener finish its queue, for a while; the thread of one that hangs is left behind.
  void close() {
    std::unique_lock lock{mutex_};
    closing_ = true;
    changed_.notify_all();
    const bool ended = changed_.wait_for(lock, kLastEvents, [this] { return ended_; });
    if (counters_ != nullptr) Counters::add(counters_->events_dropped, waiting_.size());
    waiting_.clear();
    counters_ = nullptr;
    lock.unlock();
    ended ? thread_.join() : thread_.detach();
  }

  void put(const Event& event) {
    {
      const std::lock_guard lock{mutex_};
      if (waiting_.size() >= kQueueLength) return Counters::add(counters_->events_dropped);
      waiting_.push_back(event);
    }
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock{mutex_};
    while (true) {
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) break;
      const Event event = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      const bool heard = call(listener_, event);
      lock.lock();
      if (!heard && counters_ != nullptr) Counters::add(counters_->listener_failures);
    }
    ended_ = true;
    changed_.notify_all();
  }

  const EventListener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Counters* counters_;         // guarded by mutex_; null once the engine is gone
  std::deque<Event> waiting_;  // guarded by mutex_
  bool closing_ = false;       // guarded by mutex_
  bool ended_ = false;         // guarded by mutex_
  std::thread thread_;
};

Events::Events(Counters& counters) : counters_(counters) {}

Events::~Events() {
  for (const auto& queue : queues_) queue->close();
}

void Events::add(EventListener listener, Delivery delivery) {
  const std::lock_guard lock{mutex_};
  if (delivery == Delivery::queued) {
    queues_.push_back(std::make_shared<Queue>(std::move(listener), counters_));
    queues_.back()->start();
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
  for (const EventListener& listener : *direct) {
    if (!call(listener, event)) Counters::add(counters_.listener_failures);
  }
}

}  // namespace engine
}  // namespace easyretry
