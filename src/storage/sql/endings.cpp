#include "storage/sql/endings.h"

#include <algorithm>
#include <unordered_map>

#include "storage/sql/writes.h"
#include "task/transitions.h"

namespace easyretry::storage::sql {
namespace {

// Settlements by what is done for them, and who has ended.
class Settling {
 public:
  Settling(Session& session, Tables& tables, History kept, TimePoint now)
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

}  // namespace

std::vector<TaskId> settle(Session& session, Tables& tables, History kept, std::span<const Settlement> settlements,
                           TimePoint now) {
  LiveRows rows{session, tables, now};
  Settling settling{session, tables, kept, now};
  auto applied = rows.each(
      settlements, [](const Settlement& settlement) { return settlement.ticket.id; },
      [&](const std::string& table, std::span<const Settlement> part) { return settling.in_table(table, part); });
  rows.free_keys(settling.ended());
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

}  // namespace easyretry::storage::sql
