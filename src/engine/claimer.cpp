#include "engine/claimer.h"

#include <algorithm>

namespace easyretry::engine {
namespace {

// The wheel reaches a little past the window, so that what the loader has just read fits.
constexpr Millis kSlack{1000};

// Claimed and unsettled tasks at most: enough for two full batches on each side of the workers.
constexpr std::size_t kBatchesInFlight = 4;

}  // namespace

Claimer::Claimer(Context& context, Holdings& holdings, Workers& workers)
    : bell(context.claiming),
      context_(context),
      holdings_(holdings),
      workers_(workers),
      wheel_(context.store_now(), context.options.window + kSlack),
      ready_(context.options.read_ahead) {}

void Claimer::offer(std::span<const Offer> offers) {
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

std::size_t Claimer::room() const {
  const std::size_t budget = context_.options.read_ahead;
  const std::size_t held = held_.load(std::memory_order_relaxed);
  return held < budget ? budget - held : 0;
}

void Claimer::stop() {
  stopped_ = true;
  bell.ring();
}

void Claimer::forget(std::function<bool(const WheelEntry&)> gone) {
  {
    const std::lock_guard lock{inbox_mutex_};
    forget_ = std::move(gone);
  }
  bell.ring();
}

Step Claimer::step() {
  if (stopped_) return {};
  apply_forget();
  // No kind takes more than half of the memory, unless it is the only one.
  const bool alone = context_.handlers.snapshot()->by_number.size() == 1;
  ready_.limit(context_.options.read_ahead / (alone ? 1 : 2));
  // In this order: after a long sleep the wheel must turn before it can take what lies ahead.
  take_due(context_.store_now());
  take_offers();
  const bool worked = context_.clock.steady() >= paused_until_ && claim_ready();
  notice_hunger();
  return next(worked);
}

void Claimer::apply_forget() {
  std::function<bool(const WheelEntry&)> gone;
  {
    const std::lock_guard lock{inbox_mutex_};
    gone.swap(forget_);
  }
  if (!gone) return;
  const std::size_t before = wheel_.size() + ready_.size();
  wheel_.remove_if(gone);
  ready_.remove_if(gone);
  held_ -= before - wheel_.size() - ready_.size();
}

void Claimer::take_offers() {
  {
    const std::lock_guard lock{inbox_mutex_};
    offers_.swap(inbox_);
  }
  const TimePoint now = context_.store_now();
  for (const Offer& offer : offers_) put(offer.entry, offer.due, now);
  offers_.clear();
}

void Claimer::put(const WheelEntry& entry, TimePoint due, TimePoint now) {
  if (due <= now) {
    make_ready(entry);
  } else if (!wheel_.schedule(entry, due)) {
    --held_;  // beyond the window: a later scan brings it in time
  }
}

void Claimer::take_due(TimePoint now) {
  due_.clear();
  wheel_.take_due(now, due_);
  for (const DueEntry& due : due_) make_ready(due.entry);
}

void Claimer::make_ready(const WheelEntry& entry) {
  if (!ready_.add(entry)) --held_;
}

bool Claimer::claim_ready() {
  if (!doubtful_.empty()) {
    clear_doubt();
    return true;
  }
  const std::size_t in_flight = holdings_.size();
  const std::size_t most = kBatchesInFlight * context_.options.batch;
  if (ready_.size() == 0 || in_flight >= most) return false;

  const auto table = context_.handlers.snapshot();
  picked_.clear();
  ready_.pick([&](HandlerNo no) { return workers_.room(no, table->concurrency(no, workers_.size())); },
              std::min(context_.options.batch, most - in_flight), picked_);
  if (picked_.empty()) return false;

  tickets_.clear();
  for (const WheelEntry& entry : picked_) tickets_.push_back({entry.id, entry.version});
  // Ascending ids: every instance locks rows in the same order, so claims cannot deadlock.
  std::sort(tickets_.begin(), tickets_.end());

  const Instant sent = context_.clock.steady();
  auto reply = context_.ask([&](storage::Store& store) {
    return store.claim({tickets_, context_.owner, context_.options.lease});
  });
  if (reply) {
    claimed(std::move(reply->won), tickets_.size(), sent);
  } else if (reply.error().code == Errc::in_doubt) {
    doubtful_ = tickets_;
    doubtful_since_ = sent;
    clear_doubt();
  } else {
    ready_.put_back(picked_);
    pause();
  }
  return true;
}

void Claimer::claimed(std::vector<task::TaskRecord> won, std::size_t asked, Instant sent) {
  failures_ = 0;
  held_ -= asked;
  Counters::add(context_.counters.claimed, won.size());
  Counters::add(context_.counters.lost_claims, asked - won.size());
  deliver(std::move(won), sent);
}

void Claimer::pause() {
  paused_until_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
}

// What was claimed by a call whose reply was lost is found out, however long that takes: left alone, it would come back
// as a crash that never happened.
void Claimer::clear_doubt() {
  auto won = look(doubtful_);
  if (!won) return pause();
  claimed(std::move(*won), doubtful_.size(), doubtful_since_);
  doubtful_.clear();
}

// What carries our name and the next version was claimed by that very call.
Result<std::vector<task::TaskRecord>> Claimer::look(std::span<const task::Ticket> tickets) {
  std::vector<TaskId> ids;
  for (const task::Ticket& ticket : tickets) {
    // Won by an earlier call, which this one only repeats (a task may have been read twice): it must not be run twice.
    const RunPtr held = holdings_.find(ticket.id);
    if (held == nullptr || held->record.info.version != ticket.version + 1) ids.push_back(ticket.id);
  }
  auto found = context_.store.find(ids);
  if (!found) {
    context_.note(found.error());
    return found;
  }
  std::erase_if(*found, [&](const task::TaskRecord& record) {
    const auto asked = std::lower_bound(tickets.begin(), tickets.end(), task::Ticket{record.info.id, 0});
    return record.info.state != TaskState::running || record.locked_by != context_.owner ||
           record.info.version != asked->version + 1;
  });
  return found;
}

void Claimer::deliver(std::vector<task::TaskRecord> won, Instant sent) {
  const auto table = context_.handlers.snapshot();
  const Millis lease = context_.options.lease;
  std::vector<RunPtr> runs;
  runs.reserve(won.size());
  for (task::TaskRecord& record : won) {
    const HandlerNo no = table->by_name.at(record.info.handler);
    // What was looked up after a lost reply may have been claimed by an earlier call than the one that asked.
    const Instant until =
        std::min(trust(sent, lease), trust(context_.store_time.when(record.lease_until - lease), lease));
    if (context_.events.heard()) context_.events.tell({EventKind::claimed, context_.store_now(), record.info, {}});
    runs.push_back(std::make_shared<Run>(std::move(record), table->by_number[no], no, until));
  }
  holdings_.add(runs);
  workers_.take(std::move(runs));
}

void Claimer::notice_hunger() {
  const bool room_again = refused_ && room() > context_.options.read_ahead / 2;
  if (room_again) refused_ = false;
  if (!ready_.take_hungry() && !room_again) return;
  hungry_ = true;
  if (loader_bell != nullptr) loader_bell->ring();
}

Step Claimer::next(bool worked) const {
  if (worked && paused_until_ <= context_.clock.steady()) return Step::again();
  Step step{worked, context_.store_time.when(wheel_.next_due())};
  const bool waiting = ready_.size() > 0 || !doubtful_.empty();
  if (waiting && paused_until_ > context_.clock.steady()) step.wake = std::min(step.wake, paused_until_);
  return step;
}

}  // namespace easyretry::engine
