// LiveRows: tasks that end, wait again, are revised, or are ended by users, inside one transaction.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/later.h"
#include "storage/sql/live_rows.h"
#include "storage/sql/transactions.h"
#include "task/transitions.h"

namespace easyretry::storage::sql {
namespace {

template <class End>  // a Settlement or an Ending
KeptResult result_of(TaskId id, const End& end, TimePoint now) {
  return {id, end.result, base::later(now, end.keep_result)};
}

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
      } else if (keeps(kept_, settlement)) {
        kept.push_back(settlement);
      } else {
        forgotten.push_back(settlement);
      }
    }
    const std::size_t largest = std::max({kept.size(), forgotten.size(), rescheduled.size()});
    if (largest != part.size()) hold(table, part);
    if (!kept.empty()) {
      const auto ended = session_.finish(table, history_for(tables_, now_), kept, now_);
      end(kept, ended);
      keep_results(kept, ended);
    }
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
      session_.sums().ended(row.name_space, row.handler, outcomes.at(row.id), now_);
      ended_here_.push_back(row.id);
      ended_.push_back(row.id);
    }
  }
  void keep_results(std::span<const Settlement> settlements, const std::vector<EndedRow>& rows) {
    std::unordered_map<TaskId, const Settlement*> kept;
    for (const Settlement& settlement : settlements) {
      if (settlement.keeps_result()) kept.emplace(settlement.ticket.id, &settlement);
    }
    std::vector<KeptResult> results;
    for (const EndedRow& row : rows) {
      const auto found = kept.find(row.id);
      if (found != kept.end()) results.push_back(result_of(row.id, *found->second, now_));
    }
    if (!results.empty()) session_.ledger().keep_results(results);
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

}  // namespace

std::vector<TaskId> LiveRows::settle(std::span<const Settlement> settlements, History kept) {
  SettlementBatch batch{session_, tables_, kept, now_};
  auto applied = each(
      settlements, [](const Settlement& settlement) { return settlement.ticket.id; },
      [&](const std::string& table, std::span<const Settlement> part) { return batch.in_table(table, part); });
  free_keys(batch.ended());
  return applied;
}

// Returns to each() the existing rows, whether they may be ended or not.
std::vector<TaskId> LiveRows::end(std::span<const Ending> endings, History kept) {
  std::vector<TaskId> applied, ended;
  const auto id_of = [](const Ending& ending) { return ending.id; };
  each(endings, id_of, [&](const std::string& table, std::span<const Ending> part) {
    std::unordered_map<TaskId, const Ending*> wanted;
    std::vector<TaskId> ids, there, gone;
    for (const Ending& ending : part) {
      wanted.emplace(ending.id, &ending);
      ids.push_back(ending.id);
    }
    std::vector<TaskRecord> told, remembered;
    std::vector<KeptResult> results;
    for (TaskRecord& record : session_.lock(table, ids)) {
      there.push_back(record.info.id);
      const Ending& ending = *wanted.at(record.info.id);
      const auto event = task::end_event(record, ending);
      if (!event) continue;
      task::apply_end(record, *event, ending, now_);
      applied.push_back(record.info.id);
      if (record.info.state != TaskState::finished) {
        told.push_back(std::move(record));
        continue;
      }
      gone.push_back(record.info.id);
      session_.sums().ended(record.info.name_space, record.info.handler, ending.outcome, now_);
      if (!keeps(kept, ending.outcome)) continue;
      if (ending.keeps_result()) results.push_back(result_of(ending.id, ending, now_));
      remembered.push_back(std::move(record));
    }
    if (!remembered.empty()) session_.insert_history(history_for(tables_, now_), remembered);
    if (!results.empty()) session_.ledger().keep_results(results);
    if (!gone.empty()) session_.remove(table, gone);
    if (!told.empty()) session_.update(table, told, now_);
    ended.insert(ended.end(), gone.begin(), gone.end());
    return there;
  });
  free_keys(ended);
  return applied;
}

// Returns to each() the existing rows, whether they may be revised or not.
std::vector<TaskId> LiveRows::revise(std::span<const Revision> revisions) {
  std::vector<TaskId> applied;
  const auto id_of = [](const Revision& revision) { return revision.ticket.id; };
  each(revisions, id_of, [&](const std::string& table, std::span<const Revision> part) {
    std::unordered_map<TaskId, const Revision*> wanted;
    std::vector<TaskId> ids, there;
    for (const Revision& revision : part) {
      wanted.emplace(revision.ticket.id, &revision);
      ids.push_back(revision.ticket.id);
    }
    std::vector<TaskRecord> revised;
    std::vector<NewRules> rules;
    for (TaskRecord& record : session_.lock(table, ids)) {
      there.push_back(record.info.id);
      const Revision& revision = *wanted.at(record.info.id);
      if (!task::may_revise(record, revision.ticket)) continue;
      task::apply_revision(record, revision, now_);
      if (revision.rules) rules.push_back({revision.ticket, *revision.rules});
      applied.push_back(record.info.id);
      revised.push_back(std::move(record));
    }
    if (!revised.empty()) session_.update(table, revised, now_);
    if (!rules.empty()) session_.update_rules(table, rules);
    return there;
  });
  return applied;
}

}  // namespace easyretry::storage::sql
