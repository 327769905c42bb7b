#include "engine/schedule.h"

#include <algorithm>

#include "engine/elsewhere.h"

namespace easyretry::engine {
namespace {

// The wheel reaches a little past the window, so that what the loader has just read fits.
constexpr Millis kSlack{1000};

// Claimed and unsettled tasks at most: enough for two full batches on each side of the workers.
constexpr std::size_t kBatchesInFlight = 4;

// Tasks under suspicion wait for workers that are idle, and workers do not tell of that.
constexpr Millis kLookForIdleWorkers{10};

}  // namespace

Schedule::Schedule(Context& context, const Holdings& holdings, Workers& workers)
    : bell(context.claiming),
      context_(context),
      holdings_(holdings),
      workers_(workers),
      wheel_(context.store_now(), context.options.window + kSlack),
      ready_(context.options.read_ahead) {
  watches_.fill(Instant::max());
}

void Schedule::offer(std::span<const Offer> offers) {
  if (offers.empty() || stopped_) return;
  {
    const std::lock_guard lock{inbox_mutex_};
    const std::size_t n = std::min(offers.size(), room());
    if (n < offers.size()) refused_ = true;
    inbox_.insert(inbox_.end(), offers.begin(), offers.begin() + static_cast<std::ptrdiff_t>(n));
    held_ += n;
  }
  bell.ring();
}

std::size_t Schedule::room() const {
  const std::size_t budget = context_.options.read_ahead;
  const std::size_t held = held_.load(std::memory_order_relaxed);
  return held < budget ? budget - held : 0;
}

std::size_t Schedule::in_wheel() const {
  const std::lock_guard lock{mutex_};
  return wheel_.size();
}

void Schedule::stop() {
  stopped_ = true;
  bell.ring();
}

void Schedule::forget(const std::function<bool(const WheelEntry&)>& gone) {
  const std::lock_guard lock{mutex_};
  take_offers();
  const std::size_t before = wheel_.size() + ready_.size();
  wheel_.remove_if(gone);
  ready_.remove_if(gone);
  held_ -= before - wheel_.size() - ready_.size();
}

bool Schedule::take(std::size_t claimer, std::vector<WheelEntry>& batch) {
  batch.clear();
  const std::lock_guard lock{mutex_};
  watches_[claimer] = Instant::max();
  if (stopped_) return false;
  // No kind takes more than half of the memory, unless it is the only one.
  const bool alone = context_.handlers.snapshot()->by_number.size() == 1;
  ready_.limit(context_.options.read_ahead / (alone ? 1 : 2));
  // In this order: after a long sleep the wheel must turn before it can take what lies ahead.
  take_due(context_.store_now());
  take_offers();
  const bool begin = !paused() && pick(batch);
  notice_hunger();
  const bool more = ready_.size() + wheel_.size() > 0;
  if (!batch.empty() && more && !watched(wheel_.next_due())) bell.ring();
  return begin;
}

void Schedule::take_offers() {
  {
    const std::lock_guard lock{inbox_mutex_};
    offers_.swap(inbox_);
  }
  const TimePoint now = context_.store_now();
  for (const Offer& offer : offers_) put(offer.entry, offer.due, now);
  offers_.clear();
}

// What fills the memory must be of use: a paused handler's tasks are read again after the pause, and what lies beyond
// the window by a later scan, in time.
void Schedule::put(const WheelEntry& entry, TimePoint due, TimePoint now) {
  if (!context_.is_paused(entry.handler)) {
    if (due <= now) return make_ready(entry);
    if (wheel_.schedule(entry, due)) return;
  }
  --held_;
}

void Schedule::take_due(TimePoint now) {
  due_.clear();
  wheel_.take_due(now, due_);
  for (const DueEntry& due : due_) make_ready(due.entry);
}

void Schedule::make_ready(const WheelEntry& entry) {
  if (!ready_.add(entry)) --held_;
}

// True: each of them begins as soon as it is claimed.
bool Schedule::pick(std::vector<WheelEntry>& batch) {
  notice_end_of_isolation();
  if (!context_.pauses.claim_by_them(context_.clock.steady())) {
    if (held_ > 0) context_.pauses.want();
    return false;
  }
  const std::size_t in_flight = holdings_.here() + ready_.picked();
  const std::size_t most = kBatchesInFlight * context_.options.batch;
  suspects_blocked_ = false;
  if (ready_.size() == 0 || in_flight >= most) return false;
  const std::size_t room_for = std::min(context_.options.batch, most - in_flight);
  if (ready_.has_suspects()) {
    pick_suspects(room_for, batch);
    if (!batch.empty()) return true;
  }
  if (isolation_.holds_others(context_.clock.steady())) return false;
  const auto table = context_.handlers.snapshot();
  const auto room = [&](HandlerNo no, std::size_t coming) {
    if (context_.is_paused(no)) return std::size_t{0};
    const auto& elsewhere = table->by_number[no]->handler.elsewhere;
    if (elsewhere) return elsewhere->room(coming);
    const std::size_t most_here = suspects_blocked_ ? free_workers() : context_.options.batch;
    return std::min(most_here, workers_.room(no, table->concurrency(no, workers_.size()), coming));
  };
  ready_.pick(room, room_for, batch);
  return all_begin_at_once(batch);
}

// Each is claimed for a worker that is free, so that its next crash is proven; those of workers elsewhere, of whom that
// is not known, one at a time. A task whose next crash would be its last runs alone.
void Schedule::pick_suspects(std::size_t most, std::vector<WheelEntry>& batch) {
  using enum Ready::Choice;
  const Instant now = context_.clock.steady();
  const auto table = context_.handlers.snapshot();
  ready_.pick_suspects(
      [&](const WheelEntry& entry, std::size_t coming) {
        const HandlerNo no = entry.handler;
        if (context_.is_paused(no) || batch.size() >= most) return next_handler;
        if (const auto& elsewhere = table->by_number[no]->handler.elsewhere) {
          return batch.empty() && elsewhere->room(coming) > 0 ? take : next_handler;
        }
        suspects_blocked_ = true;
        const std::size_t concurrency = table->concurrency(no, workers_.size());
        if (is_last_chance(entry)) {
          if (!batch.empty() || !may_run_alone(now) || workers_.idle(no, concurrency) <= coming) return leave;
          isolation_.begin(entry.id, now);
          claiming_alone_ = true;
          return take;
        }
        if (isolation_.holds_others(now)) return leave;
        return free_workers() > 0 && workers_.idle(no, concurrency) > coming ? take : next_handler;
      },
      batch);
}

// Threads that nobody has been promised.
std::size_t Schedule::free_workers() const {
  const std::size_t taken = workers_.busy() + ready_.picked();
  return workers_.size() - std::min(workers_.size(), taken);
}

// Callbacks may crash as often again as the handler: see attempt.cpp.
bool Schedule::is_last_chance(const WheelEntry& entry) const {
  const int most = context_.live.max_crashes;
  return entry.suspicion == most || entry.suspicion == 2 * most;
}

bool Schedule::may_run_alone(Instant now) {
  return isolation_.ask(now, workers_.busy() == 0 && ready_.picked() == 0);
}

void Schedule::notice_end_of_isolation() {
  const auto alone = isolation_.alone();
  if (alone && !claiming_alone_ && holdings_.find(*alone) == nullptr) isolation_.end(context_.clock.steady());
}

// A worker elsewhere that takes several may begin with them one after the other.
bool Schedule::all_begin_at_once(std::span<const WheelEntry> batch) const {
  if (workers_.busy() + ready_.picked() > workers_.size()) return false;
  const auto table = context_.handlers.snapshot();
  return std::ranges::all_of(batch, [&](const WheelEntry& entry) {
    const std::size_t coming = ready_.picked(entry.handler);
    if (table->by_number[entry.handler]->handler.elsewhere) return coming == 1;
    return workers_.idle(entry.handler, table->concurrency(entry.handler, workers_.size())) >= coming;
  });
}

void Schedule::claimed(std::span<const WheelEntry> batch) {
  const std::lock_guard lock{mutex_};
  if (isolation_.alone() == batch.front().id) claiming_alone_ = false;
  held_ -= batch.size() - ready_.release(batch);
  failures_ = 0;
  notice_hunger();
}

void Schedule::put_back(std::span<const WheelEntry> batch) {
  const std::lock_guard lock{mutex_};
  if (isolation_.alone() == batch.front().id) claiming_alone_ = false;
  ready_.put_back(batch);
}

void Schedule::pause() {
  const std::lock_guard lock{mutex_};
  paused_until_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
}

void Schedule::notice_hunger() {
  const bool room_again = refused_ && room() > context_.options.read_ahead / 2;
  if (room_again) refused_ = false;
  if (!ready_.take_hungry() && !room_again) return;
  hungry_ = true;
  if (loader_bell != nullptr) loader_bell->ring();
}

bool Schedule::watched(TimePoint due) const {
  const Instant when = context_.store_time.when(due);
  return std::any_of(watches_.begin(), watches_.end(), [when](Instant wake) { return wake <= when; });
}

Instant Schedule::watch(std::size_t claimer) {
  if (paused()) return paused_until_;
  const std::lock_guard lock{mutex_};
  const TimePoint due = wheel_.next_due();
  if (!watched(due)) watches_[claimer] = context_.store_time.when(due);
  if (!suspects_blocked_) return watches_[claimer];
  return std::min(watches_[claimer], context_.clock.steady() + kLookForIdleWorkers);
}

}  // namespace easyretry::engine
