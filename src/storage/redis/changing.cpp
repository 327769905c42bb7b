#include "storage/redis/changing.h"

#include <algorithm>

#include "storage/redis/limits.h"
#include "storage/redis/packing.h"
#include "storage/redis/records.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

// As in lua/settle.lua.
enum Kind : unsigned { kFinish = 0, kRetry = 1, kAdvance = 2, kHandBack = 3, kCancel = 4, kTell = 5 };

unsigned number_of(Settlement::Kind kind) {
  switch (kind) {
    case Settlement::Kind::finish: return kFinish;
    case Settlement::Kind::retry: return kRetry;
    case Settlement::Kind::advance: return kAdvance;
    case Settlement::Kind::hand_back: return kHandBack;
  }
  return kFinish;
}

class ClaimJob final : public Job {
 public:
  ClaimJob(Part& part, const ClaimRequest& request) : Job(part), request_(request) {}

  void add(const Ticket& ticket) { tickets_.push_back(ticket); }
  std::vector<TaskRecord>& won() { return won_; }
  TimePoint now() const { return now_; }
  // That are being asked for.
  std::span<const Ticket> slice() const {
    return std::span{tickets_}.subspan(from_, std::min(kItemsACall, tickets_.size() - from_));
  }

  bool done() const override { return from_ == tickets_.size(); }
  ScriptCall next() override {
    ScriptCall call = part().script(scripts::claim);
    call.keys.insert(call.keys.end(), {part().keys().body(), part().keys().meta()});
    // See WAITING in lua/common.lua.
    call.arguments.push_back(std::string{owner()}.append(request_.begin ? 0 : 1, '\0'));
    call.arguments.push_back(std::to_string(request_.lease.count()));
    Packer packed;
    for (const Ticket& ticket : slice()) packed.id(ticket.id).f64(to_double(ticket.version));
    call.arguments.push_back(packed.take());
    return call;
  }
  void take(const Reply& reply) override {
    const NameTexts texts = [this](unsigned number) { return part().name_of(number); };
    now_ = TimePoint{Millis{reply.integer(0)}};
    const std::string_view became = reply.text(1);
    std::size_t at = 2;
    for (std::size_t i = 0; i < became.size() && i < slice().size(); ++i) {
      if (became[i] == kLost) continue;
      const std::string_view meta = became[i] == kAgain ? reply.text(at++) : std::string_view{};
      won_.push_back(live_record(slice()[i].id, reply.text(at++), meta, texts));
      if (became[i] == kFirst) {
        task::apply_claim(won_.back(), task::Event::claim, owner(), now_, request_.lease, request_.begin);
      }
    }
    from_ += slice().size();
  }

 private:
  // As in lua/claim.lua.
  static constexpr char kLost = '0';
  static constexpr char kFirst = '1';
  static constexpr char kAgain = '2';

  std::string_view owner() const { return request_.owner.substr(0, 0xfffe); }

  const ClaimRequest& request_;
  std::vector<Ticket> tickets_;
  std::size_t from_ = 0;
  std::vector<TaskRecord> won_;
  TimePoint now_{};
};

Error trouble_with(const std::exception_ptr& failure, std::string_view where, bool lost) {
  return {lost ? Errc::in_doubt : Errc::unavailable, std::string{where}, text_of(failure)};
}

}  // namespace

// What was won is held, and the rest is left to be claimed again.
ClaimReply Changing::claim(const ClaimRequest& request) {
  if (request.tickets.empty()) return {.now = parts_.now(), .won = {}};
  std::vector<std::unique_ptr<ClaimJob>> jobs;
  const auto places = parts_.places(request.tickets, [](const Ticket& ticket) { return ticket.id; });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty()) continue;
    jobs.push_back(std::make_unique<ClaimJob>(parts_.at(i), request));
    for (const std::size_t place : places[i]) jobs.back()->add(request.tickets[place]);
  }
  parts_.run(How::work, jobs);
  ClaimReply reply;
  bool answered = false;
  for (const auto& job : jobs) {
    std::ranges::move(job->won(), std::back_inserter(reply.won));
    answered = answered || !job->failure();
    if (!job->failure()) continue;
    if (parts_.size() == 1 && (job->lost() || reply.won.empty())) throw_failure(jobs);
    reply.trouble = trouble_with(job->failure(), "redis.claim", job->lost());
    if (job->lost()) std::ranges::copy(job->slice(), std::back_inserter(reply.in_doubt));
  }
  if (!answered && reply.won.empty() && reply.in_doubt.empty()) throw_failure(jobs);
  reply.now = parts_.time_of(jobs.front()->now());
  return reply;
}

Applied Changing::settle(std::span<const Settlement> settlements, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(settlements.size());
  for (const Settlement& each : settlements) {
    Packer kind;
    kind.u8(number_of(each.kind)).u8(redis::number_of(each.outcome)).u8(static_cast<unsigned>(each.stage));
    Packer rest;
    if (each.delay != Millis{0} || !each.error.empty() || !each.result.empty()) {
      rest.millis(each.delay).u32(each.error.size()).bytes(each.error).bytes(each.result);
    }
    changes.push_back({each.ticket, kind.take(), rest.take()});
  }
  return apply<SettleJob>(How::work, changes, begun, false);
}

Applied Changing::revise(std::span<const Revision> revisions, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(revisions.size());
  for (const Revision& each : revisions) {
    Packer rest;
    rest.u8(each.delay ? 1 : 0).millis(each.delay.value_or(Millis{0}));
    if (each.rules) rest.bytes(rules_bytes(*each.rules));
    changes.push_back({.ticket = each.ticket, .kind = {}, .rest = rest.take()});
  }
  return apply<ReviseJob>(How::work, changes, begun, true);
}

Applied Changing::cancel(std::span<const TaskId> ids, Cancel how, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(ids.size());
  const std::string kind = Packer{}.u8(how == Cancel::end ? kCancel : kTell).u8(0).u8(0).take();
  for (const TaskId id : ids) changes.push_back({{id, 0}, kind, {}});
  return apply<SettleJob>(How::work, changes, begun, true);
}

Applied Changing::renew(std::span<const Renewal> renewals, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(renewals.size());
  for (const Renewal& each : renewals) {
    Packer rest;
    rest.millis(each.lease).u8(each.progress ? 1 : 0).bytes(each.progress.value_or(""));
    changes.push_back({.ticket = each.ticket, .kind = {}, .rest = rest.take()});
  }
  return apply<RenewJob>(How::soon, changes, begun, false);
}

template <class AJob>
std::vector<std::unique_ptr<AJob>> Changing::jobs_for(std::span<const Change> changes) {
  std::vector<std::unique_ptr<AJob>> jobs;
  const auto places = parts_.places(changes, [](const Change& change) { return change.ticket.id; });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].empty()) continue;
    jobs.push_back(std::make_unique<AJob>(parts_.at(i), options_));
    for (const std::size_t place : places[i]) jobs.back()->add(changes[place], place);
  }
  return jobs;
}

// `whole`: only an answer for all of them is one.
template <class AJob>
Applied Changing::apply(How how, std::span<const Change> changes, bool& begun, bool whole) {
  if (changes.empty()) return {.now = parts_.now(), .applied = {}};
  const auto jobs = jobs_for<AJob>(changes);
  parts_.run(how, jobs);
  Applied reply{.now = {}, .applied = std::vector<bool>(changes.size())};
  const std::string_view where = how == How::soon ? "redis.renew" : "redis.settle";
  bool answered = false;
  for (const auto& job : jobs) {
    begun = begun || job->begun();
    answered = answered || !job->failure();
    if (job->failure()) reply.trouble = trouble_with(job->failure(), where, job->lost());
    for (std::size_t i = 0; i < job->answers().size(); ++i) {
      if (job->answers()[i] == '?') reply.unanswered.push_back(job->place(i));
      reply.applied[job->place(i)] = job->answers()[i] == '1';
    }
  }
  const bool is_about_the_data =
      !answered && !begun && std::ranges::any_of(jobs, [](const auto& job) { return job->refused(); });
  if (whole || parts_.size() == 1 || changes.size() == 1 || is_about_the_data) throw_failure(jobs);
  std::ranges::sort(reply.unanswered);
  reply.now = parts_.time_of(jobs.front()->now());
  return reply;
}

}  // namespace easyretry::storage::redis
