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
    : context_(context),
      holdings_(holdings),
      workers_(workers),
      wheel_(context.store_now(), context.options.window + kSlack),
      ready_(std::max<std::size_t>(context.options.read_ahead / 2, 1)) {}

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
  take_offers();
  take_due(context_.store_now());
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
  auto reply = claim(tickets_);
  if (!reply) {
    ready_.put_back(picked_);
    paused_until_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
    return true;
  }
  failures_ = 0;
  held_ -= picked_.size();
  Counters::add(context_.counters.claimed, reply->won.size());
  Counters::add(context_.counters.lost_claims, tickets_.size() - reply->won.size());
  deliver(std::move(reply->won), sent);
  return true;
}

Result<storage::ClaimReply> Claimer::claim(std::span<const task::Ticket> tickets) {
  auto reply = context_.ask([&](storage::Store& store) {
    return store.claim({tickets, context_.owner, context_.options.lease});
  });
  if (!reply && reply.error().code == Errc::in_doubt) return look(tickets);
  return reply;
}

// The reply was lost. What carries our name and the next version was claimed by that very call; left alone, it would
// come back as a crash that never happened.
Result<storage::ClaimReply> Claimer::look(std::span<const task::Ticket> tickets) {
  std::vector<TaskId> ids;
  for (const task::Ticket& ticket : tickets) ids.push_back(ticket.id);
  auto found = context_.store.find(ids);
  if (!found) {
    context_.note(found.error());
    return tl::make_unexpected(found.error());
  }
  storage::ClaimReply reply;
  for (task::TaskRecord& record : *found) {
    const auto asked = std::lower_bound(tickets.begin(), tickets.end(), task::Ticket{record.info.id, 0});
    if (record.info.state == TaskState::running && record.locked_by == context_.owner &&
        record.info.version == asked->version + 1) {
      reply.won.push_back(std::move(record));
    }
  }
  return reply;
}

void Claimer::deliver(std::vector<task::TaskRecord> won, Instant sent) {
  const auto table = context_.handlers.snapshot();
  std::vector<RunPtr> runs;
  runs.reserve(won.size());
  for (task::TaskRecord& record : won) {
    const HandlerNo no = table->by_name.at(record.info.handler);
    runs.push_back(
        std::make_shared<Run>(std::move(record), table->by_number[no], no, trust(sent, context_.options.lease)));
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
  if (ready_.size() > 0 && paused_until_ > context_.clock.steady()) step.wake = std::min(step.wake, paused_until_);
  return step;
}

}  // namespace easyretry::engine
