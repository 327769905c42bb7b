#include <algorithm>
#include <iterator>
#include <mutex>
#include <ostream>

#include <easyretry/testing.h>

namespace easyretry {

void PrintTo(EventKind kind, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << to_string(kind);
}

void PrintTo(const Event& event, std::ostream* out) {  // NOLINT
  *out << to_string(event.kind);
  if (!event.table.empty()) *out << " " << event.table;
  if (!event.message.empty()) *out << ": " << event.message;
}

namespace testing {

struct EventRecorder::Events {
  std::mutex mutex;
  bool recording = true;     // guarded by mutex
  std::vector<Event> heard;  // guarded by mutex
};

namespace {

std::vector<EventKind> kinds_of(const std::vector<Event>& events) {
  std::vector<EventKind> kinds;
  std::ranges::transform(events, std::back_inserter(kinds), &Event::kind);
  return kinds;
}

}  // namespace

EventRecorder::EventRecorder(Engine& engine) : events_(std::make_shared<Events>()) {
  engine.on_event([events = events_](const Event& event) {
    const std::lock_guard lock{events->mutex};
    if (events->recording) events->heard.push_back(event);
  });
}

// A listener cannot be taken back, so it stays; but it keeps nothing any more.
EventRecorder::~EventRecorder() {
  const std::lock_guard lock{events_->mutex};
  events_->recording = false;
  events_->heard.clear();
}

std::vector<Event> EventRecorder::all() const {
  const std::lock_guard lock{events_->mutex};
  return events_->heard;
}

std::vector<Event> EventRecorder::of(TaskId id) const {
  std::vector<Event> events = all();
  std::erase_if(events, [id](const Event& event) { return event.task.id != id; });
  return events;
}

std::vector<EventKind> EventRecorder::kinds() const {
  return kinds_of(all());
}

std::vector<EventKind> EventRecorder::kinds(TaskId id) const {
  return kinds_of(of(id));
}

std::size_t EventRecorder::count(EventKind kind) const {
  const std::lock_guard lock{events_->mutex};
  return static_cast<std::size_t>(std::ranges::count(events_->heard, kind, &Event::kind));
}

void EventRecorder::clear() {
  const std::lock_guard lock{events_->mutex};
  events_->heard.clear();
}

}  // namespace testing
}  // namespace easyretry
