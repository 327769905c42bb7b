#include "storage/sql/revisions.h"

#include <unordered_map>

#include "task/transitions.h"

namespace easyretry::storage::sql {
namespace {

// Of one table. Gives the ids of the rows that are there, whether they may be revised or not.
class Revising {
 public:
  Revising(Session& session, TimePoint now) : session_(session), now_(now) {}

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

std::vector<TaskId> revise(Session& session, Tables& tables, std::span<const Revision> revisions, TimePoint now) {
  Revising revising{session, now};
  LiveRows{session, tables, now}.each(
      revisions, [](const Revision& revision) { return revision.ticket.id; },
      [&](const std::string& table, std::span<const Revision> part) { return revising.in_table(table, part); });
  return revising.applied();
}

}  // namespace easyretry::storage::sql
