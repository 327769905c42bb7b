#include "engine/settler.h"

#include <algorithm>

#include "engine/reporting.h"

namespace easyretry::engine {

using Kind = task::Settlement::Kind;

namespace {

// While the workers have more to do, outcomes wait this long for company: a few of them cost the store a commit as
// hundreds do.
constexpr Millis kGather{2};

constexpr std::string_view kErrorNotStored = "(the error text could not be stored)";

}  // namespace

Settler::Settler(Context& context, Outcomes& outcomes, Holdings& holdings, Schedule& schedule, const Workers& workers)
    : context_(context), outcomes_(outcomes), holdings_(holdings), schedule_(schedule), workers_(workers) {}

bool Settler::gathers() {
  const std::size_t ready = outcomes_.size();
  const bool more_soon = pending_.empty() && ready > 0 && ready < context_.options.batch && workers_.waiting() > 0;
  if (more_soon && gather_until_ == Instant::max()) gather_until_ = context_.clock.steady() + kGather;
  if (more_soon && context_.clock.steady() < gather_until_) return true;
  gather_until_ = Instant::max();
  return false;
}

Step Settler::step() {
  if (gathers()) return {false, gather_until_};
  outcomes_.take(pending_);
  if (pending_.empty()) return {};
  // Those that were postponed go alone: among others, what the store refuses would never be found.
  const bool postponed = postponed_ > 0 && context_.clock.steady() >= postponed_until_;
  const std::size_t from = postponed ? 0 : postponed_;
  const std::size_t most = postponed ? postponed_ : pending_.size() - postponed_;
  const std::size_t n = std::min(most, context_.options.batch);
  if (n == 0) return {false, postponed_until_};
  failed_ = false;
  unanswered_.clear();
  const auto batch = std::span{pending_}.subspan(from, n);
  write(batch);
  if (failed_ && !postponed) {
    const auto pause = pause_after_failures(failures_++, context_.random);
    return {true, context_.clock.steady() + pause};
  }
  if (failed_) unanswered_.assign(batch.begin(), batch.end());
  failures_ = 0;
  take_out(from, n, postponed);
  outcomes_.take(pending_);
  if (pending_.size() > postponed_) return Step::again();
  return {true, postponed_ > 0 ? postponed_until_ : Instant::max()};
}

// Of the batch that was written, what the store did not answer for stays.
void Settler::take_out(std::size_t from, std::size_t n, bool postponed) {
  const auto first = pending_.begin() + static_cast<std::ptrdiff_t>(from);
  pending_.erase(first, first + static_cast<std::ptrdiff_t>(n));
  if (postponed) postponed_ -= n;
  if (unanswered_.empty()) {
    if (postponed) postponements_ = 0;
    return;
  }
  postponed_until_ = context_.clock.steady() + pause_after_failures(postponements_++, context_.random);
  postponed_ += unanswered_.size();
  pending_.insert(pending_.begin(), unanswered_.begin(), unanswered_.end());
}

void Settler::write(std::span<Item> items) {
  std::vector<task::Settlement> settlements;
  settlements.reserve(items.size());
  for (const Item& item : items) {
    task::Settlement& settlement = settlements.emplace_back(item.settlement);
    settlement.space = item.run->record.info.space;
    settlement.handler = item.run->record.info.handler;
  }
  context_.measures.settle_batch.add(settlements.size());
  const auto reply = context_.ask(StoreVerb::settle, [&](storage::Store& store) { return store.settle(settlements); });
  if (reply) {
    written(items, *reply);
  } else if (reply.error().code == Errc::invalid_argument) {
    refused(items, reply.error());
  } else {
    // Unavailable or in doubt: sent again as it is. What had been written then does not match its version any more.
    failed_ = true;
  }
}

// Halves until the row that the store cannot take is alone. Without its result, and then without its error text, it may
// still be settled.
void Settler::refused(std::span<Item> items, const Error& error) {
  if (items.size() > 1) {
    write(items.first(items.size() / 2));
    if (!failed_) write(items.subspan(items.size() / 2));
    return;
  }
  task::Settlement& settlement = items.front().settlement;
  if (!settlement.result.empty()) {
    settlement.result.clear();
    settlement.error += " (the result could not be stored: " + error.detail + ")";
    return write(items);
  }
  if (!settlement.error.empty() && settlement.error != kErrorNotStored) {
    settlement.error = kErrorNotStored;
    return write(items);
  }
  Counters::add(context_.counters.internal_errors);
  context_.log(LogLevel::error, "task " + to_string(settlement.ticket.id) +
                                    " cannot be settled and will run again when its lease expires: " + error.detail);
  release(items);
}

void Settler::written(std::span<Item> items, const storage::Applied& reply) {
  reoffers_.clear();
  std::vector<RunPtr> answered;
  answered.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (std::binary_search(reply.unanswered.begin(), reply.unanswered.end(), i)) {
      unanswered_.push_back(items[i]);
      continue;
    }
    answered.push_back(items[i].run);
    if (reply.applied[i]) {
      report(context_, items[i].settlement, items[i].run->record.info);
      if (const auto offer = again(*items[i].run, items[i].settlement, reply.now)) reoffers_.push_back(*offer);
    } else {
      Counters::add(context_.counters.stale_settles);
    }
  }
  holdings_.remove(answered);
  schedule_.offer(reoffers_);
  schedule_.bell.ring();
}

void Settler::written(const RunPtr& run, const task::Settlement& settlement, bool applied, TimePoint now) {
  holdings_.remove({&run, 1});
  if (!applied) return Counters::add(context_.counters.stale_settles);
  report(context_, settlement, run->record.info);
  if (const auto offer = again(*run, settlement, now)) schedule_.offer({&*offer, 1});
}

// A retry due within the window need not be read again: it goes straight back to the wheel.
std::optional<Offer> Settler::again(const Run& run, const task::Settlement& s, TimePoint now) const {
  if ((s.kind != Kind::retry && s.kind != Kind::advance) || s.delay > context_.options.window) return std::nullopt;
  const int crashes = run.record.info.crashes;
  const std::uint8_t suspicion = crashes > 0 ? storage::suspicion_byte(crashes + 1) : 0;
  return Offer{{s.ticket.id, static_cast<std::uint32_t>(s.ticket.version + 1), run.no, suspicion}, now + s.delay};
}

void Settler::release(std::span<const Item> items) {
  std::vector<RunPtr> runs;
  runs.reserve(items.size());
  for (const Item& item : items) runs.push_back(item.run);
  holdings_.remove(runs);
}

}  // namespace easyretry::engine
