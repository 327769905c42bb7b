#include "conformance/model_run.h"

#include <array>
#include <chrono>
#include <sstream>
#include <string>
#include <utility>

#include "support/task_builder.h"
#include "task/attempt_log.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;
using storage::TaskQuery;
using task::Ending;
using task::Event;
using task::NewTask;
using task::Revision;
using task::Settlement;
using task::TaskRecord;
using task::Ticket;

// Few values, so that due times, leases and steps of the clock often meet exactly.
constexpr std::array<Millis, 6> kTimes{0ms, 1ms, 500ms, 1000ms, 5000ms, 60000ms};
constexpr std::array kOutcomes{Outcome::succeeded,   Outcome::exhausted, Outcome::rejected,
                               Outcome::quarantined, Outcome::parked,    Outcome::cancelled};
constexpr std::array<const char*, 2> kNamespaces{"shop", "bank"};
constexpr std::array<const char*, 3> kHandlers{"pay", "ship", "mail"};

template <class Values>
auto pick_of(const Values& values, unsigned how) {
  return values[how % values.size()];
}

// Five keys in two namespaces: after a while, most inserts meet a live task.
NewTask a_random_task(const Pick& pick) {
  TaskBuilder task = a_task();
  task.name_space(pick_of(kNamespaces, pick.task)).key("key-" + std::to_string(pick.task / 2 % 5));
  task.handler(pick_of(kHandlers, pick.how)).due_in(pick_of(kTimes, pick.how) - 500ms);
  task.payload(std::string(pick.how, static_cast<char>(pick.task))).payload_version(pick.how % 3);
  if (pick.how % 3 == 0) task.business("order", std::to_string(pick.how % 4));
  if (pick.how % 5 == 0) task.due_at(kStart + pick_of(kTimes, pick.task));
  if (pick.how % 7 == 0) {
    task.rules({.max_attempts = pick.task, .max_duration = 1h, .deadline = kStart + 2h, .backoff = "fixed 5s"});
  }
  if (pick.task == 13) task.key("");  // refused with its batch
  NewTask made = task;
  if (pick.how % 11 == 0) made.on_duplicate = pick.how % 2 == 0 ? OnDuplicate::reject : OnDuplicate::update_policy;
  if (pick.how % 13 == 0) {
    made.owner = "caller";
    made.lease = pick_of(kTimes, pick.task);
  }
  if (pick.how % 6 == 0) {
    made.attempts = 1;
    made.error = "failed before";
    made.tags = {"a", std::to_string(pick.task)};
    made.traceparent = "trace";
  }
  made.task_class = task::class_of(pick.how % 4);
  return made;
}

Settlement a_random_settlement(const Ticket& ticket, const Pick& pick) {
  using Kind = Settlement::Kind;
  constexpr std::array kKinds{Kind::retry, Kind::advance, Kind::hand_back, Kind::finish, Kind::retry};
  Settlement settlement;
  settlement.ticket = ticket;
  settlement.kind = pick_of(kKinds, pick.how);
  settlement.outcome = pick_of(kOutcomes, pick.how / 5U);
  settlement.stage = pick.how % 2 == 0 ? Stage::on_success : Stage::on_final_failure;
  settlement.delay = pick_of(kTimes, pick.how / 8U);
  if (pick.how % 3 != 0) settlement.error = "error " + std::to_string(pick.how);
  if (pick.how % 4 != 0) settlement.result = "result " + std::to_string(pick.how);
  if (pick.how % 2 != 0) settlement.keep_result = 1h;
  if (settlement.kind != Kind::hand_back && pick.how % 7 != 0) {
    PastAttempt attempt{.number = pick.how, .began_at = std::nullopt, .ended_at = kStart, .by = "it's me"};
    if (pick.how % 3 == 0) attempt.began_at = kStart - 1s;
    if (pick.how % 4 == 0) attempt.error = "a\nb\t\"c\\ {rows} 错";
    settlement.attempt = task::attempt_line(attempt);
  }
  return settlement;
}

Revision a_random_revision(const Ticket& ticket, const Pick& pick) {
  Revision revision{.ticket = ticket};
  if (pick.how % 3 != 0) revision.delay = pick_of(kTimes, pick.how / 8U);
  if (pick.how % 2 == 0) {
    revision.rules.emplace();
    revision.rules->max_attempts = pick.task;
    revision.rules->max_duration = pick_of(kTimes, pick.task);
  }
  if (pick.how % 4 == 0) revision.rules->backoff = "fixed " + std::to_string(pick.how) + "s";
  if (pick.how % 10 == 0) revision.rules->deadline = kStart + 3h;
  return revision;
}

Ending a_random_ending(TaskId name, const Pick& pick) {
  Ending ending{.id = name, .outcome = pick_of(kOutcomes, pick.how / 2U), .tell = pick.how % 2 == 0};
  ending.drop_callback = !ending.tell && pick.how % 3 == 0;
  if (pick.how % 3 == 0) ending.error = "ended because " + std::to_string(pick.how);
  if (pick.how % 5 == 0) ending.result = "result " + std::to_string(pick.how);
  if (pick.how % 3 == 0) ending.keep_result = 1h;
  return ending;
}

Event event_of(Settlement::Kind kind) {
  constexpr std::array kEvents{Event::finish, Event::retry, Event::advance, Event::hand_back};
  return kEvents.at(static_cast<std::size_t>(kind));
}

// Only the lines that differ; a record has thirty that do not.
std::string difference(const std::string& got, const std::string& wanted) {
  std::istringstream ours{got};
  std::istringstream models{wanted};
  std::string lines = "the store and the model differ:\n";
  std::string our_line;
  std::string model_line;
  while (ours || models) {
    if (!std::getline(ours, our_line)) our_line = "(nothing)";
    if (!std::getline(models, model_line)) model_line = "(nothing)";
    if (our_line != model_line) lines += "  store " + our_line + "\n  model " + model_line + '\n';
  }
  return lines;
}

std::map<TaskId, TaskRecord> by_name(const std::vector<TaskRecord>& records) {
  std::map<TaskId, TaskRecord> named;
  for (const TaskRecord& record : records) named.emplace(record.info.id, record);
  return named;
}

}  // namespace

ModelRun::ModelRun(const StoreBackend& backend, const StoreSettings& settings, Coverage& coverage)
    : fixture_(backend.make(settings)),
      model_store_({.total_shards = settings.total_shards, .history = settings.history, .id_seed = {}},
                   fixture_->clock),
      model_(model_store_),
      other_(fixture_->store()),
      coverage_(coverage) {}

void ModelRun::run(const Command& command) {
  switch (command.verb) {
    case Command::Verb::tick: tick(command); break;
    case Command::Verb::insert: insert(command); break;
    case Command::Verb::load: load(command); break;
    case Command::Verb::claim: claim(command); break;
    case Command::Verb::settle: settle(command); break;
    case Command::Verb::renew: renew(command); break;
    case Command::Verb::find: both([&](NamedStore& store) { return store.find(names(command)); }); break;
    case Command::Verb::list: list(command); break;
    case Command::Verb::revise: revise(command); break;
    case Command::Verb::end: end(command); break;
    case Command::Verb::requeue: requeue(command); break;
    case Command::Verb::keep: both([](NamedStore& store) { return store.keep(); }); break;
  }
}

void ModelRun::compare_everything() {
  both([](NamedStore& store) { return store.list({.finished = false}); });
  both([](NamedStore& store) { return store.list({.finished = true}); });
  for (const char* name_space : kNamespaces) {
    both([&](NamedStore& store) { return store.load(name_space, Millis::max(), 1000); });
    both([&](NamedStore& store) { return store.counts(name_space); });
  }
  std::vector<TaskId> all;
  for (std::size_t i = 0; i < model_.known(); ++i) all.push_back(TaskId{static_cast<std::int64_t>(i)});
  both([&](NamedStore& store) { return store.find(all); });
}

void ModelRun::tick(const Command& command) {
  fixture_->clock.advance(pick_of(kTimes, command.how));
}

void ModelRun::insert(const Command& command) {
  std::vector<NewTask> tasks;
  for (const Pick& pick : command.picks) tasks.push_back(a_random_task(pick));
  both([&](NamedStore& store) { return store.insert(tasks); });
}

void ModelRun::load(const Command& command) {
  const Millis ahead = command.how % 5 == 0 ? -500ms : pick_of(kTimes, command.how);
  const std::size_t limit = command.how % 3 == 0 ? 1000 : command.how % 3;
  both([&](NamedStore& store) { return store.load(pick_of(kNamespaces, command.how), ahead, limit); });
}

void ModelRun::claim(const Command& command) {
  const auto wanted = tickets(command);
  const Millis lease = pick_of(kTimes, command.how);
  const bool begin = command.how % 4 != 0;
  both([&](NamedStore& store) {
    return store.claim(wanted, "worker-" + std::to_string(command.how % 3), lease, begin);
  });
  for (const Ticket& ticket : wanted) {
    const auto before = before_.find(ticket.id);
    if (before == before_.end() || before->second.info.state != TaskState::running) {
      note(ticket.id, Event::claim);
    } else {
      note(ticket.id, before->second.began ? Event::claim_expired : Event::claim_suspect);
    }
  }
}

void ModelRun::settle(const Command& command) {
  std::vector<Settlement> settlements;
  for (const Pick& pick : command.picks) settlements.push_back(a_random_settlement(ticket(pick), pick));
  both([&](NamedStore& store) { return store.settle(settlements); });
  for (const Settlement& settlement : settlements) note(settlement.ticket.id, event_of(settlement.kind));
}

void ModelRun::renew(const Command& command) {
  std::vector<storage::Renewal> renewals;
  for (const Ticket& held : tickets(command)) {
    storage::Renewal renewal{held, pick_of(kTimes, command.how)};
    if (command.how % 3 == 0) renewal.progress = "step " + std::to_string(command.how % 7);
    renewals.push_back(renewal);
  }
  both([&](NamedStore& store) { return store.renew(renewals); });
  for (const auto& renewal : renewals) note(renewal.ticket.id, Event::renew);
}

void ModelRun::list(const Command& command) {
  const unsigned how = command.how;
  TaskQuery query{.finished = how % 2 == 0, .limit = how % 3 == 0 ? 1000U : how % 3};
  const unsigned which = command.picks.empty() ? 0 : command.picks[0].how;
  if (which % 2 == 0) query.name_space = pick_of(kNamespaces, how / 2);
  if (which % 3 == 0) query.key = "key-" + std::to_string(how % 5);
  if (which % 5 == 0) query.handler = pick_of(kHandlers, how);
  if (which % 7 == 0) query.business_type = "order";
  if (which % 7 == 1) query.business_id = std::to_string(how % 4);
  if (which % 11 == 0) query.state = TaskState{static_cast<int>(how % 3)};
  if (which % 11 == 1) query.outcome = pick_of(kOutcomes, how);
  const auto some_time = [&](unsigned pick) { return fixture_->clock.now() - pick_of(kTimes, pick); };
  if (which % 3 == 1) query.finished_at.from = some_time(how);
  if (which % 5 == 1) query.finished_at.until = some_time(how / 6);
  query.requeued = which % 4 == 0;
  if (how / 3 % 2 == 0) query.order = ListOrder::newest_first;
  if (which % 13 == 0) query.created_at = {some_time(how), some_time(how / 6)};
  both([&](NamedStore& store) { return store.list(query); });
}

void ModelRun::revise(const Command& command) {
  std::vector<Revision> revisions;
  for (const Pick& pick : command.picks) revisions.push_back(a_random_revision(ticket(pick), pick));
  both([&](NamedStore& store) { return store.revise(revisions); });
  for (const Revision& revision : revisions) note(revision.ticket.id, Event::revise);
}

void ModelRun::end(const Command& command) {
  std::vector<Ending> endings;
  for (const Pick& pick : command.picks) endings.push_back(a_random_ending(choose(pick), pick));
  both([&](NamedStore& store) { return store.end(endings); });
  for (const Ending& ending : endings) note(ending.id, ending.tell ? Event::end_and_tell : Event::end);
}

void ModelRun::requeue(const Command& command) {
  std::vector<TaskId> ended;
  for (const Pick& pick : command.picks) {
    ended.push_back(TaskId{static_cast<std::int64_t>(pick.task % (model_.known() + 1))});
  }
  const std::size_t known = model_.known();
  constexpr std::array<std::optional<TaskClass>, 4> kAs{std::nullopt, TaskClass::normal, TaskClass::urgent,
                                                        TaskClass::background};
  const auto as = command.picks.empty() ? std::nullopt : pick_of(kAs, command.picks.front().how);
  both([&](NamedStore& store) { return store.requeue(ended, as); });
  coverage_[{TaskState::finished, Event::requeue}] += static_cast<int>(model_.known() - known);
}

template <class Call>
void ModelRun::both(Call call) {
  const std::string wanted = call(model_);
  const std::string got = call(other_);
  before_ = std::exchange(after_, by_name(model_.records()));
  if (got != wanted) RC_FAIL(difference(got, wanted));
}

// Mostly a live task; in one of eight cases any task, which may be unknown.
TaskId ModelRun::choose(const Pick& pick) const {
  std::vector<TaskId> live;
  for (const auto& [name, record] : after_) {
    if (record.info.state != TaskState::finished) live.push_back(name);
  }
  if (pick.task < 224 && !live.empty()) return live[pick.task % live.size()];
  return TaskId{static_cast<std::int64_t>(pick.task % (model_.known() + 1))};
}

// The ticket of the task now; sometimes an older one, or one that never existed.
Ticket ModelRun::ticket(const Pick& pick) const {
  const TaskId name = choose(pick);
  const auto found = after_.find(name);
  const std::int64_t version = found == after_.end() ? 1 : found->second.info.version;
  return {name, version + (pick.how % 16 == 0 ? -1 : pick.how % 16 == 1 ? 1 : 0)};
}

std::vector<TaskId> ModelRun::names(const Command& command) const {
  std::vector<TaskId> chosen;
  for (const Pick& pick : command.picks) chosen.push_back(choose(pick));
  return chosen;
}

std::vector<Ticket> ModelRun::tickets(const Command& command) const {
  std::vector<Ticket> chosen;
  for (const Pick& pick : command.picks) chosen.push_back(ticket(pick));
  return chosen;
}

void ModelRun::note(TaskId name, Event event) {
  const auto was = before_.find(name);
  if (was == before_.end() || was->second.info.state == TaskState::finished) return;
  const auto is = after_.find(name);
  const bool changed = is == after_.end() || is->second.info.version != was->second.info.version ||
                       is->second.lease_until != was->second.lease_until;
  if (changed) ++coverage_[{was->second.info.state, event}];
}

}  // namespace easyretry::test
