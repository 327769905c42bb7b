#pragma once
// The engine without threads and without waiting, for the tests of applications: time stands still until it is moved,
// and handlers run on the thread that asks for it.
//
//   testing::ManualEngine engine;
//   auto pay = engine.retryable("pay", …);
//   pay.submit(order);
//   engine.run_due();               // first attempt, fails
//   engine.clock().advance(3s);
//   engine.run_due();               // second attempt
//
// Beside GoogleTest write easyretry::testing in full: with `using namespace easyretry`, `testing` alone could mean
// both.

#include <atomic>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <vector>

#include <easyretry/easyretry.h>

namespace easyretry {

// How GoogleTest prints them when an expectation fails: `retry scheduled`, and `attempt failed: slow`.
void PrintTo(EventKind kind, std::ostream* out);      // NOLINT: its name
void PrintTo(const Event& event, std::ostream* out);  // NOLINT

}  // namespace easyretry

namespace easyretry::testing {

// A clock that moves only when told to. Thread-safe.
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
  // Sets the wall clock alone, as an administrator or a time server would.
  void set_wall(TimePoint now) { wall_ = now.time_since_epoch().count(); }

 private:
  std::atomic<std::int64_t> wall_;
  std::atomic<std::int64_t> steady_{std::chrono::nanoseconds{std::chrono::hours{1}}.count()};
};

class ManualEngine : public Engine {
 public:
  explicit ManualEngine(EngineOptions options = {}, std::string_view store_url = "memory:");
  // As an application configured by a file; "memory:" is a good store for a test.
  explicit ManualEngine(const Config& config, ExceptionNames names = {});

  ManualClock& clock();

  // Runs everything that is due, and what becomes due by that, until nothing is; returns how many executions that was.
  std::size_t run_due();
  // As run_due, moving the clock to the next due task again and again until no task is left, or `at_most` has passed.
  // Returns how many executions that was.
  std::size_t drain(Millis at_most = std::chrono::hours{24 * 365});
};

// Keeps every event of an engine, in the order in which they happened, for tests to look at:
//
//   EventRecorder events{engine};
//   …
//   EXPECT_THAT(events.kinds(), ElementsAre(EventKind::stored, EventKind::claimed, EventKind::succeeded));
//
// Hears what happens after it was made. Thread-safe, and may go before or after the engine.
class EventRecorder {
 public:
  explicit EventRecorder(Engine& engine);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  std::vector<Event> all() const;
  std::vector<Event> of(TaskId id) const;  // one task's
  std::vector<EventKind> kinds() const;
  std::vector<EventKind> kinds(TaskId id) const;
  std::size_t count(EventKind kind) const;
  void clear();

 private:
  struct Events;
  std::shared_ptr<Events> events_;  // shared with the engine, which may live longer
};

}  // namespace easyretry::testing
