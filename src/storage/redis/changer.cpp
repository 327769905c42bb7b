#include "storage/redis/changer.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include "storage/redis/record_layout.h"
#include "storage/redis/records.h"
#include "task/task_id.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {

// A change of one task.
struct Change {
  Ticket ticket;
  layout::SettleGroup group{};  // for settle.lua: kind, outcome and stage, which many changes share
  std::string item{};           // the packed argument of this change; empty: none
};

namespace {

namespace Changed = layout::Changed;
namespace SettleKind = layout::SettleKind;

unsigned kind_of(const Settlement& settlement) {
  switch (settlement.kind) {
    case Settlement::Kind::finish:
      return settlement.keep || must_be_kept(settlement.outcome) ? SettleKind::finish : SettleKind::forget;
    case Settlement::Kind::retry: return SettleKind::retry;
    case Settlement::Kind::advance: return SettleKind::advance;
    case Settlement::Kind::hand_back: return SettleKind::hand_back;
  }
  return SettleKind::finish;
}

// For settle.lua; empty: there is nothing to add. For a task that ends, the delay is the time for which its result is
// kept.
std::string more_of(Millis delay, const std::string& error, const std::string& attempt, const std::string& result) {
  if (delay == Millis{0} && error.empty() && attempt.empty() && result.empty()) return {};
  const layout::SettleMore more{.delay = delay, .error_size = error.size(), .attempt_size = attempt.size()};
  return Packer{}.record(more).bytes(error).bytes(attempt).bytes(result).take();
}

// The keys of due sets for a call. The namespace does not follow from an id, so a call names the sets of all namespaces
// that this process works with, usually one. If a task belongs to another, the script says so and is called again.
class Route {
 public:
  Route(const Part& part, int total_shards)
      : part_(part), namespaces_(part.used_namespaces()), total_shards_(total_shards) {}

  const std::vector<Name>& namespaces() const { return namespaces_; }
  std::string namespace_numbers() const {
    Packer numbers;
    for (const Name& name_space : namespaces_) numbers.record(layout::NamespaceNumber{name_space.number});
    return numbers.take();
  }
  void add_dues(ScriptCall& call) const { call.keys.insert(call.keys.end(), dues_.begin(), dues_.end()); }
  // The place of the shard among the shards of the call, from 0.
  unsigned shard_place(TaskId id) {
    const ShardId shard = task::shard_of(id, total_shards_);
    const auto [found, fresh] = places_.try_emplace(shard, static_cast<unsigned>(places_.size()));
    if (fresh) {
      for (const Name& name_space : namespaces_) dues_.push_back(part_.keys().due(shard, name_space.text));
    }
    return found->second;
  }

 private:
  const Part& part_;
  const std::vector<Name> namespaces_;
  const int total_shards_;
  std::map<ShardId, unsigned> places_;
  std::vector<std::string> dues_;
};

// Joins changes of the same kind that follow each other.
class Groups {
 public:
  void add(layout::SettleGroup group) {
    if (count_ > 0 && bytes_of(group) != bytes_of(group_)) close();
    group_ = group;
    ++count_;
  }
  std::string take() {
    if (count_ > 0) close();
    return packed_.take();
  }

 private:
  void close() {
    group_.count = count_;
    packed_.record(group_);
    count_ = 0;
  }

  Packer packed_;
  layout::SettleGroup group_{};  // without its count
  unsigned count_ = 0;
};

std::string outcomes_kept(History history) {
  std::string kept;
  for (unsigned number = 1; const auto outcome = outcome_of(number); ++number) {
    kept.push_back(keeps(history, *outcome) ? '1' : '0');
  }
  return kept;
}

// Changes of tasks in one part, a slice per call.
class ChangeJob : public Job {
 public:
  ChangeJob(Part& part, const RedisOptions& options) : Job(part), options_(options) {}

  void add(const Change& change, std::size_t place) {
    changes_.push_back(&change);
    places_.push_back(place);
    answers_.push_back(Changed::unknown_namespace);
  }
  // The place of a change in the batch of the caller.
  std::size_t place(std::size_t i) const { return places_[i]; }
  // layout::Changed; unknown_space also means that there was no answer.
  const std::string& answers() const { return answers_; }
  TimePoint now() const { return now_; }
  bool begun() const { return answers_.find(Changed::applied) != std::string::npos; }

  bool done() const override { return slice_.empty() && from_ == changes_.size(); }
  ScriptCall next() override {
    if (slice_.empty()) take_slice();
    return call_for(slice_);
  }
  void take(const Reply& reply) override {
    now_ = TimePoint{Millis{reply.integer(0)}};
    const std::string_view each = reply.text(1);
    for (std::size_t at = 0; at < slice_.size() && at < each.size(); ++at) answers_[slice_[at]] = each[at];
    slice_ = left(reply, slice_);
  }

 protected:
  using Slice = std::vector<std::size_t>;  // places in changes_
  virtual ScriptCall call_for(const Slice& slice) = 0;
  // The changes to send again, before any others.
  virtual Slice left(const Reply& reply, const Slice& slice) = 0;

  const Change& change(std::size_t i) const { return *changes_[i]; }
  const RedisOptions& options() const { return options_; }
  void give_up(std::size_t i) { answers_[i] = Changed::moved_on; }

 private:
  void take_slice() {
    std::size_t bytes = 0;
    while (from_ < changes_.size() && slice_.size() < kItemsACall && (slice_.empty() || bytes < kBytesACall)) {
      bytes += changes_[from_]->item.size();
      slice_.push_back(from_++);
    }
    // settle.lua takes groups of one shard. Changes of one task stay in order.
    std::ranges::stable_sort(
        slice_, {}, [this](std::size_t i) { return task::shard_of(change(i).ticket.id, options_.total_shards); });
  }

  const RedisOptions& options_;
  std::vector<const Change*> changes_;
  std::vector<std::size_t> places_;
  std::string answers_;
  Slice slice_;           // in flight
  std::size_t from_ = 0;  // the changes before it are done or in flight
  TimePoint now_{};
};

class RenewJob final : public ChangeJob {
 public:
  using ChangeJob::ChangeJob;

 protected:
  ScriptCall call_for(const Slice& slice) override {
    ScriptCall call = part().script(scripts::renew);
    call.keys.push_back(part().keys().meta());
    for (const std::size_t i : slice) call.arguments.push_back(change(i).item);
    return call;
  }
  Slice left(const Reply&, const Slice&) override { return {}; }
};

// A job that changes the sets of due tasks.
class DueJob : public ChangeJob {
 public:
  using ChangeJob::ChangeJob;

 protected:
  // Keeps tasks of unknown namespaces for another call. By then the namespaces are known, unless they have no names.
  Slice left(const Reply& reply, const Slice& slice) override {
    Slice foreign;
    for (const std::size_t i : slice) {
      if (answers()[i] == Changed::unknown_namespace) foreign.push_back(i);
    }
    if (foreign.empty() || learn_namespaces(reply.text(2))) return foreign;
    for (const std::size_t i : foreign) give_up(i);
    return {};
  }

 private:
  // False: none of them has a name.
  bool learn_namespaces(std::string_view numbers) {
    bool learned = false;
    for (Unpacker in{numbers}; !in.empty();) {
      const unsigned name_space = in.record<layout::NamespaceNumber>().number;
      if (part().name_of(name_space).empty()) continue;
      part().uses(name_space);
      learned = true;
    }
    return learned;
  }
};

class SettleJob final : public DueJob {
 public:
  using DueJob::DueJob;

 protected:
  ScriptCall call_for(const Slice& slice) override {
    ScriptCall call = part().script(scripts::settle);
    const Keys& keys = part().keys();
    Route route{part(), options().total_shards};
    call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done()});
    for (const Name& name_space : route.namespaces()) {
      call.keys.insert(call.keys.end(), {keys.keys(name_space.text), keys.counts(name_space.text),
                                         keys.ended(name_space.text), keys.dead(name_space.text)});
    }
    call.arguments.push_back(route.namespace_numbers());
    call.arguments.push_back(outcomes_kept(options().history));
    call.arguments.push_back(std::to_string(options().history_of_a_part()));
    Packer tickets;
    Groups groups;
    for (const std::size_t i : slice) {
      tickets.record(layout::Ticket{.id = change(i).ticket.id, .version = change(i).ticket.version});
      layout::SettleGroup group = change(i).group;
      group.shard = route.shard_place(change(i).ticket.id);
      group.has_more = change(i).item.empty() ? 0 : 1;
      groups.add(group);
    }
    call.arguments.push_back(tickets.take());
    call.arguments.push_back(groups.take());
    for (const std::size_t i : slice) {
      if (!change(i).item.empty()) call.arguments.push_back(change(i).item);
    }
    route.add_dues(call);
    call.keys.insert(call.keys.end(), {keys.requeued(), keys.results(), keys.results_until()});
    return call;
  }
};

class ReviseJob final : public DueJob {
 public:
  using DueJob::DueJob;

 protected:
  ScriptCall call_for(const Slice& slice) override {
    ScriptCall call = part().script(scripts::revise);
    Route route{part(), options().total_shards};
    call.keys.insert(call.keys.end(), {part().keys().body(), part().keys().meta()});
    call.arguments.push_back(route.namespace_numbers());
    for (const std::size_t i : slice) {
      const types::u16 shard = route.shard_place(change(i).ticket.id);
      call.arguments.push_back(change(i).item);
      call.arguments.back().replace(offsetof(layout::Revise, shard), sizeof shard, bytes_of(shard));
    }
    route.add_dues(call);
    return call;
  }
};

}  // namespace

Applied Changer::settle(std::span<const Settlement> settlements, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(settlements.size());
  for (const Settlement& each : settlements) {
    Change& change = changes.emplace_back(Change{.ticket = each.ticket});
    change.group.kind = kind_of(each);
    change.group.outcome = redis::number_of(each.outcome);
    change.group.stage = static_cast<unsigned>(each.stage);
    const bool ends = each.kind == Settlement::Kind::finish;
    const Millis kept = each.keeps_result() ? each.keep_result : Millis{0};
    change.item = more_of(ends ? kept : each.delay, each.error, each.attempt, each.result);
  }
  return apply<SettleJob>(CallKind::write, changes, begun, false);
}

Applied Changer::revise(std::span<const Revision> revisions, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(revisions.size());
  for (const Revision& each : revisions) {
    Packer item;
    item.record(layout::Revise{.id = each.ticket.id,
                               .version = each.ticket.version,
                               .moves = each.delay ? 1 : 0,
                               .delay = each.delay.value_or(Millis{0})});
    if (each.rules) item.bytes(rules_bytes(*each.rules));
    changes.push_back({.ticket = each.ticket, .item = item.take()});
  }
  return apply<ReviseJob>(CallKind::write, changes, begun, true);
}

Applied Changer::end(std::span<const Ending> endings, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(endings.size());
  for (const Ending& each : endings) {
    Change& change = changes.emplace_back(Change{.ticket = {each.id, 0}});
    change.group.kind = each.tell ? SettleKind::end_and_tell : SettleKind::end;
    change.group.outcome = redis::number_of(each.outcome);
    const bool to_callback = each.tell || each.drop_callback;
    change.group.stage = static_cast<unsigned>(to_callback ? task::callback_of(each.outcome) : Stage::run);
    change.item = more_of(each.tell ? Millis{0} : each.keep_result, each.error, {}, each.result);
  }
  return apply<SettleJob>(CallKind::write, changes, begun, true);
}

Applied Changer::renew(std::span<const Renewal> renewals, bool& begun) {
  std::vector<Change> changes;
  changes.reserve(renewals.size());
  for (const Renewal& each : renewals) {
    const layout::Renew renew{
        .id = each.ticket.id, .version = each.ticket.version, .lease = each.lease, .has_note = each.progress ? 1 : 0};
    changes.push_back({.ticket = each.ticket, .item = Packer{}.record(renew).bytes(each.progress.value_or("")).take()});
  }
  return apply<RenewJob>(CallKind::urgent_write, changes, begun, false);
}

// `whole`: an answer must be for all of them.
template <class AJob>
Applied Changer::apply(CallKind kind, std::span<const Change> changes, bool& begun, bool whole) {
  if (changes.empty()) return {.now = parts_.now(), .applied = {}};
  const auto jobs = parts_.jobs_for<AJob>(
      changes, [](const Change& change) { return change.ticket.id; }, options_);
  parts_.run(kind, jobs);
  Applied reply{.now = {}, .applied = std::vector<bool>(changes.size())};
  const std::string_view where = kind == CallKind::urgent_write ? "redis.renew" : "redis.settle";
  bool answered = false;
  for (const auto& job : jobs) {
    begun = begun || job->begun();
    answered = answered || !job->failure();
    if (job->failure()) reply.trouble = error_of(*job, where);
    for (std::size_t i = 0; i < job->answers().size(); ++i) {
      if (job->answers()[i] == Changed::unknown_namespace) reply.unanswered.push_back(job->place(i));
      reply.applied[job->place(i)] = job->answers()[i] == Changed::applied;
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
