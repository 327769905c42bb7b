#include "storage/sql/task_changes.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "storage/sql/transactions.h"
#include "task/transitions.h"

namespace easyretry::storage::sql {
namespace {

// Settlements grouped by what has to be done for them, and the tasks that have ended.
class SettlementBatch {
 public:
  SettlementBatch(Session& session, Tables& tables, History kept, TimePoint now)
      : session_(session), tables_(tables), kept_(kept), now_(now) {}

  std::vector<TaskId> in_table(const std::string& table, std::span<const Settlement> part) {
    std::vector<Settlement> kept, forgotten, rescheduled;
    for (const Settlement& settlement : part) {
      if (settlement.kind != Settlement::Kind::finish) {
        rescheduled.push_back(settlement);
      } else if (keeps(kept_, settlement.outcome)) {
        kept.push_back(settlement);
      } else {
        forgotten.push_back(settlement);
      }
    }
    const std::size_t largest = std::max({kept.size(), forgotten.size(), rescheduled.size()});
    if (largest != part.size()) hold(table, part);
    if (!kept.empty()) end(kept, session_.finish(table, history_for(tables_, now_), kept, now_));
    if (!forgotten.empty()) end(forgotten, session_.finish(table, {}, forgotten, now_));
    std::vector<TaskId> applied = std::exchange(ended_here_, {});
    if (!rescheduled.empty()) append(applied, session_.reschedule(table, rescheduled, now_));
    return applied;
  }

  const std::vector<TaskId>& ended() const { return ended_; }

 private:
  static void append(std::vector<TaskId>& all, const std::vector<TaskId>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  void end(std::span<const Settlement> settlements, const std::vector<EndedRow>& rows) {
    std::unordered_map<TaskId, Outcome> outcomes;
    for (const Settlement& settlement : settlements) outcomes.emplace(settlement.ticket.id, settlement.outcome);
    for (const EndedRow& row : rows) {
      session_.sums().ended(row.space, row.handler, outcomes.at(row.id), now_);
      ended_here_.push_back(row.id);
      ended_.push_back(row.id);
    }
  }
  void hold(const std::string& table, std::span<const Settlement> part) {
    std::vector<TaskId> ids;
    for (const Settlement& settlement : part) ids.push_back(settlement.ticket.id);
    std::sort(ids.begin(), ids.end());
    session_.hold(table, ids);
  }

  Session& session_;
  Tables& tables_;
  const History kept_;
  const TimePoint now_;
  std::vector<TaskId> ended_here_;
  std::vector<TaskId> ended_;
};

// Revisions of the tasks of one table. in_table() returns the ids of the rows that are there, whether they may be
// revised or not.
class RevisionBatch {
 public:
  RevisionBatch(Session& session, TimePoint now) : session_(session), now_(now) {}

  std::vector<TaskId> in_table(const std::string& table, std::span<const Revision> part) {
    std::unordered_map<TaskId, const Revision*> wanted;
    std::vector<TaskId> ids;
    for (const Revision& revision : part) {
      wanted.emplace(revision.ticket.id, &revision);
      ids.push_back(revision.ticket.id);
    }
    std::vector<TaskId> there;
    std::vector<TaskRecord> revised;
    std::vector<NewRules> rules;
    for (TaskRecord& record : session_.lock(table, ids)) {
      there.push_back(record.info.id);
      const Revision& revision = *wanted.at(record.info.id);
      if (!task::may_revise(record, revision.ticket)) continue;
      task::apply_revision(record, revision, now_);
      if (revision.rules) rules.push_back({revision.ticket, *revision.rules});
      applied_.push_back(record.info.id);
      revised.push_back(std::move(record));
    }
    if (!revised.empty()) session_.update(table, revised, now_);
    if (!rules.empty()) session_.update_rules(table, rules);
    return there;
  }

  std::vector<TaskId> applied() { return std::move(applied_); }

 private:
  Session& session_;
  const TimePoint now_;
  std::vector<TaskId> applied_;
};

}  // namespace

std::vector<TaskId> settle(Session& session, Tables& tables, History kept, std::span<const Settlement> settlements,
                           TimePoint now) {
  LiveRows rows{session, tables, now};
  SettlementBatch batch{session, tables, kept, now};
  auto applied = rows.each(
      settlements, [](const Settlement& settlement) { return settlement.ticket.id; },
      [&](const std::string& table, std::span<const Settlement> part) { return batch.in_table(table, part); });
  rows.free_keys(batch.ended());
  return applied;
}

std::vector<TaskId> cancel(Session& session, Tables& tables, History kept, std::span<const TaskId> ids, Cancel how,
                           TimePoint now) {
  LiveRows rows{session, tables, now};
  std::vector<TaskId> applied, ended;
  rows.each(ids, std::identity{}, [&](const std::string& table, std::span<const TaskId> part) {
    std::vector<TaskId> there, gone;
    std::vector<TaskRecord> told, remembered;
    for (TaskRecord& record : session.lock(table, part)) {
      there.push_back(record.info.id);
      const auto event = task::cancel_event(record, how == Cancel::tell);
      if (!event) continue;
      task::apply_cancel(record, *event, now);
      applied.push_back(record.info.id);
      if (record.info.state != TaskState::finished) {
        told.push_back(std::move(record));
        continue;
      }
      gone.push_back(record.info.id);
      session.sums().ended(record.info.space, record.info.handler, Outcome::cancelled, now);
      if (keeps(kept, Outcome::cancelled)) remembered.push_back(std::move(record));
    }
    if (!remembered.empty()) session.insert_history(history_for(tables, now), remembered);
    if (!gone.empty()) session.remove(table, gone);
    if (!told.empty()) session.update(table, told, now);
    ended.insert(ended.end(), gone.begin(), gone.end());
    return there;
  });
  rows.free_keys(ended);
  return applied;
}

std::vector<TaskId> revise(Session& session, Tables& tables, std::span<const Revision> revisions, TimePoint now) {
  RevisionBatch batch{session, now};
  LiveRows{session, tables, now}.each(
      revisions, [](const Revision& revision) { return revision.ticket.id; },
      [&](const std::string& table, std::span<const Revision> part) { return batch.in_table(table, part); });
  return batch.applied();
}

// Locks rows before it reads them: if two requeue the same task, the second sees the mark of the first. All go through
// the months, and through the rows of a month, in the same order.
std::map<TaskId, Requeues::Ended> Requeues::lock(std::span<const TaskId> ids) {
  std::set<TaskId> wanted{ids.begin(), ids.end()};
  std::map<TaskId, Ended> ended;
  for (const std::string& table : tables_.histories(session_)) {
    if (wanted.empty()) break;
    const std::vector<TaskId> sorted{wanted.begin(), wanted.end()};
    for (TaskRecord& record : session_.lock_history(table, sorted)) {
      const TaskId id = record.info.id;
      wanted.erase(id);
      ended.emplace(id, Ended{std::move(record), table});
    }
  }
  return ended;
}

std::vector<std::optional<TaskId>> Requeues::start_again(std::span<const TaskId> ids) {
  std::vector<std::optional<TaskId>> started(ids.size());
  if (ids.empty()) return started;
  std::map<TaskId, Ended> ended = lock(ids);
  LiveRows rows{session_, tables_, now_};
  const std::string history = history_for(tables_, now_);
  std::map<std::string, std::vector<Requeued>> marks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = ended.find(ids[i]);
    if (found == ended.end() || found->second.record.info.requeued_as) continue;
    auto& [record, table] = found->second;
    started[i] = inserts_.start_again(rows, history, record, now_);
    if (!started[i]) continue;
    record.info.requeued_as = started[i];
    marks[table].push_back({ids[i], *started[i]});
  }
  for (auto& [table, requeued] : marks) {
    std::sort(requeued.begin(), requeued.end(), [](const Requeued& a, const Requeued& b) { return a.id < b.id; });
    session_.mark_requeued(table, requeued);
  }
  return started;
}

}  // namespace easyretry::storage::sql
