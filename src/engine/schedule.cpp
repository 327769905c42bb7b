#include "engine/schedule.h"

#include <algorithm>

#include "engine/elsewhere.h"

namespace easyretry::engine {
namespace {

// The wheel reaches a little past the window, so that what the loader has just read fits.
constexpr Millis kSlack{1000};

// Claimed and unsettled tasks at most: enough for two full batches on each side of the workers.
constexpr std::size_t kBatchesInFlight = 4;

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

void Schedule::take(std::size_t claimer, std::vector<WheelEntry>& batch) {
  batch.clear();
  const std::lock_guard lock{mutex_};
  watches_[claimer] = Instant::max();
  if (stopped_) return;
  // No kind takes more than half of the memory, unless it is the only one.
  const bool alone = context_.handlers.snapshot()->by_number.size() == 1;
  ready_.limit(context_.options.read_ahead / (alone ? 1 : 2));
  // In this order: after a long sleep the wheel must turn before it can take what lies ahead.
  take_due(context_.store_now());
  take_offers();
  if (!paused()) pick(batch);
  notice_hunger();
  const bool more = ready_.size() + wheel_.size() > 0;
  if (!batch.empty() && more && !watched(wheel_.next_due())) bell.ring();
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

void Schedule::pick(std::vector<WheelEntry>& batch) {
  if (!context_.pauses.claim_by_them(context_.clock.steady())) {
    if (held_ > 0) context_.pauses.want();
    return;
  }
  const std::size_t in_flight = holdings_.here() + ready_.picked();
  const std::size_t most = kBatchesInFlight * context_.options.batch;
  if (ready_.size() == 0 || in_flight >= most) return;
  const auto table = context_.handlers.snapshot();
  const auto room = [&](HandlerNo no, std::size_t coming) {
    if (context_.is_paused(no)) return std::size_t{0};
    const auto& elsewhere = table->by_number[no]->handler.elsewhere;
    return elsewhere ? elsewhere->room(coming) : workers_.room(no, table->concurrency(no, workers_.size()), coming);
  };
  ready_.pick(room, std::min(context_.options.batch, most - in_flight), batch);
}

void Schedule::claimed(std::span<const WheelEntry> batch) {
  const std::lock_guard lock{mutex_};
  held_ -= batch.size() - ready_.release(batch);
  failures_ = 0;
  notice_hunger();
}

void Schedule::put_back(std::span<const WheelEntry> batch) {
  const std::lock_guard lock{mutex_};
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
  return watches_[claimer];
}

}  // namespace easyretry::engine
