#pragma once
// An engine without threads and without waiting, for tests of applications. Time stands still until the test advances
// it, and handlers run on the calling thread.
//
//   testing::ManualEngine engine;
//   auto pay = engine.retryable("pay", …);
//   pay.submit(order);
//   engine.run_due();               // first attempt, fails
//   engine.clock().advance(3s);
//   engine.run_due();               // second attempt
//
// With GoogleTest, write easyretry::testing in full: after `using namespace easyretry`, `testing` alone is ambiguous.

#include <atomic>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <vector>

#include <easyretry/easyretry.h>

#pragma GCC visibility push(default)
namespace easyretry {

// GoogleTest prints events in failed expectations with these: `retry scheduled`, `attempt failed: slow`.
void PrintTo(EventKind kind, std::ostream* out);      // NOLINT: GoogleTest requires the name
void PrintTo(const Event& event, std::ostream* out);  // NOLINT

}  // namespace easyretry

namespace easyretry::testing {

// A clock that moves only when it is advanced or set. Thread-safe.
class ManualClock final : public Clock {
 public:
  // Starts at 2025-01-01T00:00:00Z.
  explicit ManualClock(TimePoint start = TimePoint{std::chrono::sys_days{std::chrono::year{2025} / 1 / 1}})
      : wall_(start.time_since_epoch().count()) {}

  TimePoint now() const override { return TimePoint{Millis{wall_.load()}}; }
  Instant steady() const override { return Instant{std::chrono::nanoseconds{steady_.load()}}; }

  void advance(Millis by) {
    wall_ += by.count();
    steady_ += std::chrono::nanoseconds{by}.count();
  }
  // Sets only the wall clock, as an administrator or a time server would.
  void set_wall(TimePoint now) { wall_ = now.time_since_epoch().count(); }

 private:
  std::atomic<std::int64_t> wall_;
  std::atomic<std::int64_t> steady_{std::chrono::nanoseconds{std::chrono::hours{1}}.count()};
};

class ManualEngine : public Engine {
 public:
  explicit ManualEngine(EngineOptions options = {}, std::string_view store_url = "memory:");
  // Like an application configured by a file; "memory:" is a good store for a test. Sends no alerts.
  explicit ManualEngine(const Config& config);
  ManualEngine(const Config& config, ExceptionNames names);

  ManualClock& clock();

  // Runs tasks until none is due, including those that become due meanwhile. Returns the number of executions.
  std::size_t run_due();
  // Like run_due, but advances the clock to the next due task, again and again, until no task is left or `at_most` has
  // passed. Returns the number of executions.
  std::size_t drain(Millis at_most = std::chrono::hours{24 * 365});
};

// Records all events of an engine, in the order in which they happen:
//
//   EventRecorder events{engine};
//   …
//   EXPECT_THAT(events.kinds(), ElementsAre(EventKind::stored, EventKind::claimed, EventKind::succeeded));
//
// Records events from its construction on. Thread-safe; may be destroyed before or after the engine.
class EventRecorder {
 public:
  explicit EventRecorder(Engine& engine);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  std::vector<Event> all() const;
  std::vector<Event> of(TaskId id) const;  // of one task
  std::vector<EventKind> kinds() const;
  std::vector<EventKind> kinds(TaskId id) const;
  std::size_t count(EventKind kind) const;
  void clear();

 private:
  struct Events;
  std::shared_ptr<Events> events_;  // shared with the engine, which may live longer
};

}  // namespace easyretry::testing
#pragma GCC visibility pop
