#include "storage/sql/batch_changes.h"

namespace easyretry::storage::sql {

// A row that another transaction holds can still be read without a lock. A row that cannot be read has ended or moved.
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
