#include "storage/sql/batch_changes.h"

namespace easyretry::storage::sql {

// A row that is not free is there, as others last left it, for whoever reads without a lock; what is not there has
// moved on.
std::unordered_set<TaskId> hold_all_but_busy(Session& session, Tables& tables, std::span<const TaskId> ids,
                                             TimePoint now) {
  std::unordered_set<TaskId> busy;
  LiveRows{session, tables, now}.each(ids, std::identity{},
                                      [&](const std::string& table, std::span<const TaskId> part) {
                                        std::vector<TaskId> there = session.hold_free(table, part);
                                        if (there.size() == part.size()) return there;
                                        const std::unordered_set<TaskId> free{there.begin(), there.end()};
                                        std::vector<TaskId> others;
                                        std::copy_if(part.begin(), part.end(), std::back_inserter(others),
                                                     [&](TaskId id) { return !free.contains(id); });
                                        for (const TaskRecord& record : session.find(table, false, others)) {
                                          busy.insert(record.info.id);
                                          there.push_back(record.info.id);
                                        }
                                        return there;
                                      });
  return busy;
}

}  // namespace easyretry::storage::sql
