#include "engine/schedule.h"

#include <algorithm>

namespace easyretry::engine {
namespace {

// The wheel reaches a little beyond the window, so that the tasks that the Loader has just read fit.
constexpr Millis kSlack{1000};

// A quarter of the memory: more would be read ahead in vain. It also lets more than half of the memory be free, which
// the Loader waits for after memory was full.
constexpr std::size_t kPartForHeldHandlers = 4;

// Limit of claimed and unsettled tasks: enough for two full batches on each side of the workers.
constexpr std::size_t kBatchesInFlight = 4;

// Tasks under suspicion wait for idle workers, and workers do not report that they are idle.
constexpr Millis kLookForIdleWorkers{10};

}  // namespace

bool Isolation::ask(Instant now, bool quiet) {
  if (alone_ || now < rest_until_) return false;
  if (!asked_at_) asked_at_ = now;
  return quiet || now - *asked_at_ >= kLongest;
}

void Isolation::begin(TaskId id, Instant now) {
  alone_ = id;
  begun_at_ = now;
}

void Isolation::end(Instant now) {
  if (asked_at_) rest_until_ = now + std::min<Instant::duration>(now - *asked_at_, 2 * kLongest);
  alone_.reset();
  asked_at_.reset();
}

bool Isolation::holds_others(Instant now) const {
  if (alone_) return now - begun_at_ < kLongest;
  return asked_at_ && now - *asked_at_ < kLongest;
}

Schedule::Schedule(Context& context, const InFlight& in_flight, Workers& workers)
    : context_(context),
      in_flight_(in_flight),
      workers_(workers),
      wheel_(std::in_place, context.store_now(), context.live.window.load() + kSlack),
      ready_(context.options.read_ahead) {
  watches_.fill(Instant::max());
}

void Schedule::offer(std::span<const DueTask> tasks) {
  if (tasks.empty() || stopped_) return;
  {
    const std::lock_guard lock{inbox_mutex_};
    const std::size_t n = std::min(tasks.size(), room());
    if (n < tasks.size()) refused_ = true;
    inbox_.insert(inbox_.end(), tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(n));
    held_ += n;
  }
  wakeup().notify();
}

std::size_t Schedule::room() const {
  const std::size_t budget = context_.options.read_ahead;
  const std::size_t held = held_.load(std::memory_order_relaxed);
  return held < budget ? budget - held : 0;
}

std::size_t Schedule::in_wheel() const {
  const std::lock_guard lock{mutex_};
  return wheel_->size();
}

std::size_t Schedule::ready(std::uint32_t handler) const {
  const std::lock_guard lock{mutex_};
  return ready_.size(handler);
}

std::size_t Schedule::retries_apart(std::uint32_t handler) const {
  const std::lock_guard lock{mutex_};
  return ready_.retries_apart(handler);
}

std::array<std::size_t, kClasses> Schedule::due_by_class() const {
  const std::lock_guard lock{mutex_};
  return ready_.by_class();
}

std::size_t Schedule::room_for(const Line& line) {
  const std::lock_guard lock{mutex_};
  return ready_.room_for(line);
}

void Schedule::leave_out(const Line& line) {
  const std::lock_guard lock{mutex_};
  ready_.leave_out(line);
}

void Schedule::stop() {
  stopped_ = true;
  wakeup().notify();
}

void Schedule::forget(const std::function<bool(const DueTask&)>& gone) {
  const std::lock_guard lock{mutex_};
  take_offers();
  const std::size_t before = wheel_->size() + ready_.size();
  wheel_->remove_if(gone);
  ready_.remove_if(gone);
  held_ -= before - wheel_->size() - ready_.size();
}

void Schedule::look_ahead(Millis window) {
  const std::lock_guard lock{mutex_};
  take_due(context_.store_now());
  std::vector<DueTask> held;
  held.reserve(wheel_->size());
  wheel_->remove_if([&held](const DueTask& task) {
    held.push_back(task);
    return true;
  });
  const TimePoint now = context_.store_now();
  wheel_.emplace(now, window + kSlack);
  for (const DueTask& task : held) put(task, now);
}

bool Schedule::take(std::size_t claimer, std::vector<DueTask>& batch) {
  batch.clear();
  const std::lock_guard lock{mutex_};
  watches_[claimer] = Instant::max();
  if (stopped_) return false;
  // No handler takes more than half of the memory, unless it is the only one. Two of the three classes leave a quarter
  // to the third.
  follow(context_.handlers.snapshot());
  const bool alone = table_->by_number.size() == 1;
  const std::size_t memory = context_.options.read_ahead;
  ready_.limit(memory / (alone ? 1 : 2), memory * 3 / 8);
  // In this order: after a long sleep the wheel must turn before it can take later tasks.
  take_due(context_.store_now());
  take_offers();
  const bool begin = !paused() && pick(batch);
  held_ -= ready_.shrink_held(memory / kPartForHeldHandlers);
  want_reload_if_room();
  const bool more = ready_.size() + wheel_->size() > 0;
  if (!batch.empty() && more && !watched(wheel_->next_due())) wakeup().notify();
  return begin;
}

// Handlers may have got a budget for retries, or have none any more.
void Schedule::follow(const std::shared_ptr<const HandlerTable>& table) {
  if (table_ == table) return;
  table_ = table;
  for (std::size_t no = 0; no < table_->by_number.size(); ++no) {
    ready_.keep_retries_apart(static_cast<std::uint32_t>(no), table_->by_number[no]->keeps_retries_apart());
  }
}

void Schedule::take_offers() {
  {
    const std::lock_guard lock{inbox_mutex_};
    offers_.swap(inbox_);
  }
  const TimePoint now = context_.store_now();
  for (const DueTask& task : offers_) put(task, now);
  offers_.clear();
}

// Memory is only for tasks that can be claimed: those of a paused handler are read again after the pause, and those
// beyond the window by a later scan, in time. A held handler that has no room for due tasks has none for later ones.
void Schedule::put(const DueTask& task, TimePoint now) {
  if (!context_.is_paused(task.handler)) {
    if (task.due <= now) return make_ready(task);
    const Line line = line_of(task);
    if (ready_.is_held(line) && ready_.room_for(line) == 0) {
      ready_.leave_out(line);
    } else if (wheel_->schedule(task)) {
      return;
    }
  }
  --held_;
}

void Schedule::take_due(TimePoint now) {
  due_.clear();
  wheel_->take_due(now, due_);
  for (const DueTask& task : due_) make_ready(task);
}

void Schedule::make_ready(const DueTask& task) {
  if (!ready_.add(task)) --held_;
}

// True: each of them begins as soon as it is claimed.
bool Schedule::pick(std::vector<DueTask>& batch) {
  notice_end_of_isolation();
  if (!context_.pauses.recent(context_.clock.steady())) {
    if (held_ > 0) context_.pauses.want();
    return false;
  }
  const std::size_t in_flight = in_flight_.here() + ready_.picked();
  const std::size_t full = context_.live.batch;
  const std::size_t most = kBatchesInFlight * full;
  suspects_blocked_ = false;
  if (ready_.size() == 0 || in_flight >= most) return false;
  const std::size_t room_for = std::min(full, most - in_flight);
  if (ready_.has_suspects()) {
    pick_suspects(room_for, batch);
    if (!batch.empty()) return true;
  }
  if (isolation_.holds_others(context_.clock.steady())) return false;
  const auto table = context_.handlers.snapshot();
  const auto workers_room = [&](HandlerNo no, std::size_t coming) {
    const auto& remote = table->by_number[no]->handler.remote;
    if (remote) return remote->room(coming);
    const std::size_t most_here = suspects_blocked_ ? free_workers() : full;
    return std::min(most_here, workers_.room(no, table->concurrency(no, workers_.size()), coming));
  };
  const auto room = [&](const Line& line, std::size_t wanted, std::size_t coming) {
    const auto no = static_cast<HandlerNo>(line.handler);
    if (context_.is_paused(no)) return std::size_t{0};
    return room_for_start(line, *table->by_number[no], std::min(wanted, workers_room(no, coming)));
  };
  ready_.pick(room, room_for, batch);
  ask_for_brakes(*table);
  return all_begin_at_once(batch);
}

// How many of `startable`, for which there are workers, the budget for retries, the limits and the circuit let start.
std::size_t Schedule::room_for_start(const Line& line, const KnownHandler& known, std::size_t startable) {
  const Instant now = context_.clock.steady();
  const bool from_budget = line.retried && known.keeps_retries_apart();
  if (from_budget) {
    const std::size_t wanted = startable;
    startable = known.circuit->room_for_retries(now, wanted);
    ready_.allow_retries(line.handler, wanted, startable);
  }
  Reservation reserved{known.brakes, now, startable};
  std::size_t granted = reserved.room();
  if (granted > 0 && known.circuit) granted = knows(*known.circuit) ? known.circuit->reserve(now, granted) : 0;
  reserved.claim(*known.holdings, granted);
  ready_.allow(line.handler, startable, granted);
  if (from_budget) known.circuit->retries().spend(now, granted);
  return granted;
}

// False: the CircuitWatch asks, and notifies the Claimers.
bool Schedule::knows(Circuit& circuit) {
  if (circuit.is_known(context_.clock.steady())) return true;
  circuit.want();
  context_.circuits.notify();
  return false;
}

// If a brake lacks an answer of the store, or seats, the BrakeWatch asks, and notifies the Claimers.
void Schedule::ask_for_brakes(const HandlerTable& table) const {
  const bool wanted = std::ranges::any_of(table.brakes, [](const auto& brake) { return brake.second->is_wanted(); });
  if (wanted) context_.braking.notify();
}

// Each is claimed for a free worker, so that its next crash is proven; those of remote executors, whose workers may be
// busy, one at a time. A task whose next crash would be its last runs alone.
void Schedule::pick_suspects(std::size_t most, std::vector<DueTask>& batch) {
  using enum Ready::Choice;
  const Instant now = context_.clock.steady();
  const auto table = context_.handlers.snapshot();
  const auto choose = [&](const DueTask& task, std::size_t coming) {
    const auto no = static_cast<HandlerNo>(task.handler);
    if (const auto& remote = table->by_number[no]->handler.remote) {
      return batch.empty() && remote->room(coming) > 0 ? take : next_handler;
    }
    suspects_blocked_ = true;
    const std::size_t concurrency = table->concurrency(no, workers_.size());
    if (is_last_chance(task)) {
      if (!batch.empty() || !may_run_alone(now) || workers_.idle(no, concurrency) <= coming) return leave;
      isolation_.begin(task.id, now);
      claiming_alone_ = true;
      return take;
    }
    if (isolation_.holds_others(now)) return leave;
    return free_workers() > 0 && workers_.idle(no, concurrency) > coming ? take : next_handler;
  };
  ready_.pick_suspects(
      [&](const DueTask& task, std::size_t coming) {
        if (context_.is_paused(task.handler) || batch.size() >= most) return next_handler;
        const KnownHandler& known = *table->by_number[task.handler];
        const bool closed = !known.circuit || (knows(*known.circuit) && known.circuit->has_room(now));
        Reservation reserved{known.brakes, now, closed ? std::size_t{1} : 0};
        if (reserved.room() == 0) {
          ready_.allow(task.handler, 1, 0);
          return next_handler;
        }
        const Ready::Choice choice = choose(task, coming);
        if (choice != take) return choice;
        if (known.circuit) known.circuit->reserve(now, 1);
        if (task.retried && known.keeps_retries_apart()) known.circuit->retries().spend(now, 1);
        reserved.claim(*known.holdings, 1);
        return take;
      },
      batch);
  ask_for_brakes(*table);
}

// Threads that no claimed task is about to use.
std::size_t Schedule::free_workers() const {
  const std::size_t taken = workers_.busy() + ready_.picked();
  return workers_.size() - std::min(workers_.size(), taken);
}

// Callbacks may crash as often again as the handler: see attempt.cpp.
bool Schedule::is_last_chance(const DueTask& task) const {
  const int most = context_.live.max_crashes;
  return task.suspicion == most || task.suspicion == 2 * most;
}

bool Schedule::may_run_alone(Instant now) {
  return isolation_.ask(now, workers_.busy() == 0 && ready_.picked() == 0);
}

void Schedule::notice_end_of_isolation() {
  const auto alone = isolation_.alone();
  if (alone && !claiming_alone_ && in_flight_.find(*alone) == nullptr) isolation_.end(context_.clock.steady());
}

// A remote executor that takes several may begin with them one after the other.
bool Schedule::all_begin_at_once(std::span<const DueTask> batch) const {
  if (workers_.busy() + ready_.picked() > workers_.size()) return false;
  const auto table = context_.handlers.snapshot();
  return std::ranges::all_of(batch, [&](const DueTask& task) {
    const auto no = static_cast<HandlerNo>(task.handler);
    const std::size_t coming = ready_.picked(no);
    if (table->by_number[no]->handler.remote) return coming == 1;
    return workers_.idle(no, table->concurrency(no, workers_.size())) >= coming;
  });
}

void Schedule::claimed(std::span<const DueTask> batch) {
  const std::lock_guard lock{mutex_};
  if (isolation_.alone() == batch.front().id) claiming_alone_ = false;
  end_claiming(batch);
  held_ -= batch.size() - ready_.release(batch);
  failures_ = 0;
  want_reload_if_room();
}

void Schedule::put_back(std::span<const DueTask> batch) {
  const std::lock_guard lock{mutex_};
  if (isolation_.alone() == batch.front().id) claiming_alone_ = false;
  end_claiming(batch);
  ready_.put_back(batch);
}

void Schedule::end_claiming(std::span<const DueTask> batch) const {
  const auto table = context_.handlers.snapshot();
  for (const DueTask& task : batch) --table->by_number[task.handler]->holdings->claiming;
}

void Schedule::pause() {
  const std::lock_guard lock{mutex_};
  paused_until_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
}

void Schedule::want_reload_if_room() {
  const bool room_again = refused_ && room() > context_.options.read_ahead / 2;
  if (room_again) refused_ = false;
  if (!ready_.take_reload_wanted() && !room_again) return;
  reload_wanted_ = true;
  if (loader_ != nullptr) loader_->notify();
}

bool Schedule::watched(TimePoint due) const {
  const Instant when = context_.store_time.when(due);
  return std::any_of(watches_.begin(), watches_.end(), [when](Instant wake) { return wake <= when; });
}

Instant Schedule::watch(std::size_t claimer) {
  if (paused()) return paused_until_;
  const std::lock_guard lock{mutex_};
  const TimePoint due = wheel_->next_due();
  if (!watched(due)) watches_[claimer] = context_.store_time.when(due);
  Instant wake = watches_[claimer];
  const Instant now = context_.clock.steady();
  const auto table = context_.handlers.snapshot();
  for (const auto& [name, circuit] : table->circuits) {
    wake = std::min({wake, circuit->next_start(now), circuit->retries().next_start(now)});
  }
  for (const auto& [subject, brake] : table->brakes) wake = std::min(wake, brake->next_start(now));
  return suspects_blocked_ ? std::min(wake, now + kLookForIdleWorkers) : wake;
}

}  // namespace easyretry::engine
