#include "engine/settler.h"

#include <algorithm>

#include "engine/reporting.h"

namespace easyretry::engine {

using Kind = task::Settlement::Kind;

namespace {

// While the workers have more to do, outcomes wait this long to share a commit: a few cost the store as much as
// hundreds.
constexpr Millis kGather{2};

constexpr std::string_view kErrorNotStored = "(the error text could not be stored)";

}  // namespace

Settler::Settler(Context& context, Outcomes& outcomes, InFlight& in_flight, Schedule& schedule, const Workers& workers)
    : context_(context), outcomes_(outcomes), in_flight_(in_flight), schedule_(schedule), workers_(workers) {}

bool Settler::gathers() {
  const std::size_t ready = outcomes_.size();
  const bool more_soon = pending_.empty() && ready > 0 && ready < context_.live.batch.load() && workers_.waiting() > 0;
  if (more_soon && gather_until_ == Instant::max()) gather_until_ = context_.clock.steady() + kGather;
  if (more_soon && context_.clock.steady() < gather_until_) return true;
  gather_until_ = Instant::max();
  return false;
}

Step Settler::step() {
  if (gathers()) return {false, gather_until_};
  outcomes_.take(pending_);
  if (pending_.empty()) return {};
  // Postponed outcomes get a separate batch: mixed with others, a row that the store refuses would never be found.
  const bool postponed = postponed_ > 0 && context_.clock.steady() >= postponed_until_;
  const std::size_t from = postponed ? 0 : postponed_;
  const std::size_t most = postponed ? postponed_ : pending_.size() - postponed_;
  const std::size_t n = std::min(most, context_.live.batch.load());
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

// Keeps only the outcomes of the written batch that the store did not answer for.
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

Result<storage::Applied> Settler::send(std::span<const Settled> settled) {
  std::vector<task::Settlement> settlements;
  settlements.reserve(settled.size());
  for (const Settled& one : settled) {
    task::Settlement& settlement = settlements.emplace_back(one.settlement);
    settlement.name_space = one.run->record.info.name_space;
    settlement.handler = one.run->record.info.handler;
    settlement.keep = one.run->handler->handler.options.keep != Millis{0};
  }
  context_.measures.settle_batch.add(settlements.size());
  return context_.ask(StoreVerb::settle, [&](storage::Store& store) { return store.settle(settlements); });
}

Result<std::vector<bool>> Settler::settle_now(std::span<const Settled> settled) {
  const auto reply = send(settled);
  if (!reply) return tl::make_unexpected(reply.error());
  finish(settled, *reply);
  if (reply->trouble) return fail(Errc::in_doubt, reply->trouble->where, reply->trouble->detail);
  return reply->applied;
}

void Settler::write(std::span<Settled> settled) {
  const auto reply = send(settled);
  if (reply) {
    const auto unanswered = finish(settled, *reply);
    unanswered_.insert(unanswered_.end(), unanswered.begin(), unanswered.end());
  } else if (reply.error().code == Errc::invalid_argument) {
    refused(settled, reply.error());
  } else {
    // Unavailable or in doubt: sent again as it is. If it was written after all, its version does not match any more.
    failed_ = true;
  }
}

// Halves the batch until the row that the store refuses is alone. Without its result, and then without its error text,
// it may still be settled.
void Settler::refused(std::span<Settled> settled, const Error& error) {
  if (settled.size() > 1) {
    write(settled.first(settled.size() / 2));
    if (!failed_) write(settled.subspan(settled.size() / 2));
    return;
  }
  task::Settlement& settlement = settled.front().settlement;
  if (!settlement.result.empty()) {
    settlement.result.clear();
    if (settlement.keep_result > Millis{0}) {  // only for readers: the outcome of the task stays
      context_.log(LogLevel::warning,
                   "the result of task " + to_string(settlement.ticket.id) + " is not kept: " + error.detail);
    } else {
      settlement.error += " (the result could not be stored: " + error.detail + ")";
    }
    return write(settled);
  }
  if (!settlement.error.empty() && settlement.error != kErrorNotStored) {
    settlement.error = kErrorNotStored;
    settlement.attempt.clear();
    return write(settled);
  }
  Counters::add(context_.counters.internal_errors);
  context_.log(LogLevel::error, "task " + to_string(settlement.ticket.id) +
                                    " cannot be settled and will run again when its lease expires: " + error.detail);
  in_flight_.remove({&settled.front().run, 1});
}

std::vector<Settled> Settler::finish(std::span<const Settled> settled, const storage::Applied& reply) {
  std::vector<Settled> unanswered;
  std::vector<RunPtr> answered;
  std::vector<DueTask> retries;
  answered.reserve(settled.size());
  for (std::size_t i = 0; i < settled.size(); ++i) {
    if (std::binary_search(reply.unanswered.begin(), reply.unanswered.end(), i)) {
      unanswered.push_back(settled[i]);
      continue;
    }
    answered.push_back(settled[i].run);
    if (reply.applied[i]) {
      report(context_, settled[i].settlement, settled[i].run->record.info);
      if (const auto retry = again(settled[i], reply.now)) retries.push_back(*retry);
    } else {
      Counters::add(context_.counters.stale_settles);
    }
  }
  in_flight_.remove(answered);
  schedule_.offer(retries);
  schedule_.wakeup().notify();
  return unanswered;
}

// A retry due within the window need not be read again: it goes straight back to the wheel.
std::optional<DueTask> Settler::again(const Settled& settled, TimePoint now) const {
  const task::Settlement& s = settled.settlement;
  if ((s.kind != Kind::retry && s.kind != Kind::advance) || s.delay > context_.live.window.load()) return std::nullopt;
  const int crashes = settled.run->record.info.crashes;
  const std::uint8_t suspicion = crashes > 0 ? storage::suspicion_byte(crashes + 1) : 0;
  return DueTask{{s.ticket.id, s.ticket.version + 1},
                 now + s.delay,
                 settled.run->no,
                 suspicion,
                 settled.run->record.info.task_class,
                 s.kind == Kind::retry && settled.run->record.info.stage == Stage::run};
}

}  // namespace easyretry::engine
