#pragma once
// The write side of `claim`, `renew`, `settle`, `revise`, `end` and `requeue`: everything that changes a stored
// task. For use inside a write transaction.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/counts.h"
#include "storage/history.h"
#include "storage/sqlite/calls.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/history_tables.h"
#include "storage/sqlite/inserter.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

class TaskChanges {
 public:
  TaskChanges(Connection& db, Calls& calls, HistoryTables& tables, History history, Sums& sums, GrowingIds& ids,
              int total_shards);

  struct Won {
    TimePoint now{};
    std::vector<Ticket> tickets;  // with the versions that the claim gave
  };
  Won claim(const ClaimRequest& request, TimePoint now);
  Applied renew(std::span<const Renewal> renewals, TimePoint now);
  Applied settle(std::span<const Settlement> settlements, TimePoint now);
  Applied revise(std::span<const Revision> revisions, TimePoint now);
  Applied end(std::span<const Ending> endings, TimePoint now);
  // With these arguments and this class, or with those of the ended task.
  std::vector<std::optional<TaskId>> requeue(std::span<const TaskId> ids, std::optional<std::string_view> arguments,
                                             std::optional<TaskClass> as, TimePoint now);

 private:
  bool claim_one(const Ticket& ticket, const ClaimRequest& request, TimePoint now);
  bool settle_one(const Settlement& settlement, TimePoint now);
  bool hand_back(const Settlement& settlement, TimePoint now);
  bool finish(const Settlement& settlement, TimePoint now);
  bool forget(const Settlement& settlement, TimePoint now);
  bool revise_one(const Revision& revision, TimePoint now);
  bool end_now(const Ending& ending, TimePoint now);
  bool end_and_tell(const Ending& ending, TimePoint now);
  bool is_decided_otherwise(const Ending& ending);
  template <class End>  // a Settlement or an Ending, of a task that has entered history
  void keep_result(TaskId id, const End& end, TimePoint now);
  std::optional<TaskId> requeue_from(const std::string& table, TaskId id, std::optional<std::string_view> arguments,
                                     std::optional<TaskClass> as, TimePoint now);
  // Runs a statement that removes this task or nothing. True: it is removed, and counted as ended.
  bool remove(PreparedStatement& removal, TaskId id, Outcome outcome, TimePoint now);
  bool remove(PreparedStatement& removal, const Settlement& settlement, TimePoint now);

  Connection& db_;
  Calls& calls_;
  HistoryTables& tables_;
  const History history_;
  Sums& sums_;
  GrowingIds& ids_;
  const int total_shards_;
  PreparedStatement claim_;
  PreparedStatement renew_;
  PreparedStatement retry_;
  PreparedStatement advance_;
  PreparedStatement hand_back_;
  PreparedStatement hand_back_later_;
  PreparedStatement keep_result_;
  PreparedStatement forget_;
  PreparedStatement remove_;
  PreparedStatement names_;
  PreparedStatement revise_;
  PreparedStatement end_and_tell_;
  PreparedStatement decided_;
  PreparedStatement mark_;
};

}  // namespace easyretry::storage::sqlite
