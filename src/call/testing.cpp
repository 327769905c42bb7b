#include <algorithm>
#include <iterator>
#include <mutex>
#include <ostream>

#include <easyretry/testing.h>

#include "call/engine_impl.h"
#include "call/errors.h"
#include "engine/inline_workers.h"
#include "storage/open.h"

namespace easyretry {

void PrintTo(EventKind kind, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << to_string(kind);
}

void PrintTo(const Event& event, std::ostream* out) {  // NOLINT
  *out << to_string(event.kind);
  if (!event.table.empty()) *out << " " << event.table;
  if (!event.message.empty()) *out << ": " << event.message;
}

}  // namespace easyretry

namespace easyretry::testing {
namespace {

engine::MakeWorkers inline_workers() {
  return [](const std::shared_ptr<engine::Context>& context, const std::shared_ptr<engine::Outcomes>& outcomes) {
    return std::make_unique<engine::InlineWorkers>(*context, *outcomes);
  };
}

// A base of ManualImpl, so that the clock outlives everything that reads it.
struct ClockHolder {
  ManualClock clock;
};

class ManualImpl final : private ClockHolder, public detail::EngineImpl {
 public:
  ManualImpl(const Config& config, ExceptionNames names)
      : EngineImpl(storage::open_store(config.store_url(), ClockHolder::clock), ClockHolder::clock, config,
                   std::move(names), inline_workers()) {}

  void start() override {}
  void stop() override {
    stop_following();
    core_.waits().close();
    core_.schedule().stop();
    core_.local_retries().stop();
  }

  ManualClock& manual_clock() { return ClockHolder::clock; }

  std::size_t run_due() {
    const std::uint64_t before = core_.stats().claimed;
    core_.intake().look_soon();
    core_.loader().hurry();
    while (step()) {
    }
    return core_.stats().claimed - before;
  }

  // When the earliest task that this engine can run is due, or its circuit lets it start, if that is later. A budget
  // for retries may say so several times in a row.
  std::optional<TimePoint> next_due() {
    std::vector<storage::ShardCursor> from;
    const auto all = engine::ShardSet::all(core_.total_shards());
    for (const ShardId shard : all.list()) from.push_back({shard});
    storage::LoadQuery query{core_.options().name_space, from, std::chrono::hours{24 * 365 * 20}};
    const auto reply = call::value_or_throw(core_.store().load(query));
    const auto table = core_.handlers().snapshot();
    std::optional<TimePoint> earliest = core_.local_retries().next_due();
    for (const auto& task : reply.tasks) {
      const std::string& handler = reply.handlers[task.handler];
      const auto known = table->find(handler);
      if (!known || core_.is_paused(handler)) continue;
      const TimePoint start = std::max(task.due, may_start(*known, task.retried));
      if (start == TimePoint::max()) continue;
      earliest = std::min(earliest.value_or(start), start);
    }
    return earliest;
  }

  // Runs what is due, and moves the clock to the next due task, until the task has ended or the time is over.
  Waited wait_for_end(TaskId id, Millis timeout) override {
    const TimePoint end = ClockHolder::clock.now() + timeout;
    // Shared: if a step throws, the wait stays behind.
    const auto answer = std::make_shared<std::optional<Result<engine::Waits::Answer>>>();
    call::value_or_throw(core_.waits().add(id, ClockHolder::clock.steady() + timeout,
                                           [answer](auto said) { answer->emplace(std::move(said)); }));
    while (!*answer) {
      run_due();
      core_.waits().look_now();
      core_.waits().step();
      if (*answer) break;
      const TimePoint now = ClockHolder::clock.now();
      const TimePoint next = next_due().value_or(end);
      ClockHolder::clock.advance((next > now ? std::min(next, end) : end) - now);  // what is due was run, if it can be
    }
    return waited(call::value_or_throw(**std::move(answer)));
  }

 private:
  TimePoint may_start(const engine::KnownHandler& known, bool retried) {
    const Instant now = ClockHolder::clock.steady();
    Instant start = now;
    if (known.circuit && !known.circuit->has_room(now)) start = known.circuit->next_start(now);
    if (retried && known.keeps_retries_apart() && known.circuit->room_for_retries(now, 1) == 0) {
      start = std::max(start, known.circuit->retries().next_start(now));
    }
    for (const auto& brake : known.brakes) {
      if (engine::Reservation{{brake}, now, 1}.room() == 0) start = std::max(start, brake->next_start(now));
    }
    if (start == now) return TimePoint{};
    if (start == Instant::max()) return TimePoint::max();  // until it is reset
    return ClockHolder::clock.now() + std::chrono::ceil<Millis>(start - now);
  }

  void keep_leases() override {}  // run_due() renews them
  // While a caller waits for its retry, nothing else can move the clock.
  bool wait(Millis delay) override {
    ClockHolder::clock.advance(delay);
    return true;
  }

  bool step() {
    bool worked = core_.intake().step().worked;
    worked |= core_.loader().step().worked;
    worked |= core_.pause_watch().step().worked;
    worked |= core_.circuit_watch().step().worked;
    worked |= core_.brake_watch().step().worked;
    worked |= core_.claimers()[0].step().worked;
    worked |= core_.local_retries().step().worked;
    worked |= static_cast<engine::InlineWorkers&>(core_.workers()).step();
    worked |= core_.settler().step().worked;
    worked |= core_.renewer().step().worked;
    return worked;
  }
};

}  // namespace

ManualEngine::ManualEngine(EngineOptions options, std::string_view store_url)
    : ManualEngine(Config{.store = std::string{store_url}, .engine = std::move(options)}) {}

ManualEngine::ManualEngine(const Config& config) : ManualEngine(config, ExceptionNames{}) {}

ManualEngine::ManualEngine(const Config& config, ExceptionNames names)
    : Engine((validate(config.engine), std::make_shared<ManualImpl>(config, std::move(names)))) {}

ManualClock& ManualEngine::clock() {
  return static_cast<ManualImpl&>(impl()).manual_clock();
}

std::size_t ManualEngine::run_due() {
  return static_cast<ManualImpl&>(impl()).run_due();
}

std::size_t ManualEngine::drain(Millis at_most) {
  auto& manual = static_cast<ManualImpl&>(impl());
  const TimePoint end = clock().now() + at_most;
  std::size_t executions = run_due();
  for (auto due = manual.next_due(); due && *due <= end; due = manual.next_due()) {
    if (*due > clock().now()) clock().advance(*due - clock().now());
    const std::size_t ran = run_due();
    executions += ran;
    if (ran > 0) continue;
    const auto next = manual.next_due();
    if (next && *next <= clock().now()) break;  // due, but nothing here can run it
  }
  return executions;
}

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

// A listener cannot be removed, so it stays; but it records nothing any more.
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

}  // namespace easyretry::testing
