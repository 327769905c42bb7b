#pragma once
// A store on a database server, whatever its kind. A Session talks to the server; this is what is said in which
// transaction. Several processes may use one database; every change is a compare-and-set on (id, version). Tasks are in
// server_store.cpp, everything beside them in server_store_upkeep.cpp.

#include <memory>
#include <optional>
#include <string>

#include "storage/server/group_inserts.h"
#include "storage/sql/due_tasks.h"
#include "storage/sql/inserts.h"
#include "storage/sql/server_options.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

class ServerStore final : public Store {
 public:
  explicit ServerStore(ServerOptions options);

  StoreInfo info() const override { return info_; }
  InsertResult insert(std::span<const NewTask> tasks) override;
  Result<InsertReply> insert_within(const Transaction& transaction, std::span<const NewTask> tasks) override;
  Result<LoadReply> load(const LoadQuery& query) override;
  Result<ClaimReply> claim(const ClaimRequest& request) override;
  Result<Applied> settle(std::span<const Settlement> settlements) override;
  Result<Applied> renew(std::span<const Renewal> renewals) override;
  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override;
  Result<std::vector<TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override;
  Result<Counts> counts(std::string_view space) override;
  Result<Applied> revise(std::span<const Revision> revisions) override;
  Result<Applied> cancel(std::span<const TaskId> ids, Cancel how) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids) override;
  Result<BeatReply> beat(const Beat& beat) override;
  Result<BeatReply> members(std::string_view space) override;
  Result<bool> leave(std::string_view space, std::string_view node) override;
  Result<bool> pause(std::string_view space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view space, std::string_view handler) override;
  Result<PausedReply> paused(std::string_view space) override;
  Result<KeepReport> keep() override;
  Result<bool> fold_counts() override;
  Result<std::vector<TableInfo>> tables() override;
  Result<std::vector<SplitMove>> split(const SplitRequest& request) override;
  Result<IntakeReply> take_in(const IntakeQuery& query, const Convert& convert) override;
  void announce(const std::string& space) override;
  std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake) override;

 private:
  std::string where(const char* verb) const { return options_.kind + "." + verb; }
  // Replaces the server's time.
  std::optional<TimePoint> given_time() const {
    return options_.clock != nullptr ? std::optional{options_.clock->now()} : std::nullopt;
  }
  TimePoint now(Session& session) const { return options_.clock != nullptr ? options_.clock->now() : session.now(); }
  void set_up();

  template <class T, class IdOf, class Change>
  auto changes(Writes& writes, const char* verb, IdOf id_of, Change change);  // BatchChanges
  Result<Applied> nothing_applied(const char* verb);
  // With told_at_once it first finds out which of them are free.
  Result<ClaimReply> claim(const ClaimRequest& request, Locks locks);
  template <class Body>
  auto read(const char* verb, Body body) {
    return reading_.run(where(verb), std::move(body));
  }

  Result<IntakeReply> take_in_once(const IntakeQuery& query, const Convert& convert);

  const ServerOptions options_;
  Pool control_;
  Pool data_;
  Pool queries_;
  Tables tables_;
  Reads reading_;
  Reads loading_;
  Reads beating_;
  Writes controlling_;
  Writes changing_;
  Writes operating_;
  Inserts inserts_;
  ShardWatch shard_watch_;
  DueTasks due_tasks_;
  Caution claim_caution_;
  Caution settle_caution_;
  Caution renew_caution_;
  StoreInfo info_;
  std::string identity_;  // of the database: two connections that read the same identity are to the same one
  InsertTransactions insert_transactions_;
  server::GroupInserts group_;
};

// Connects, creates missing tables, and refuses a database that was created with other settings. Throws StoreError.
std::unique_ptr<Store> open_server_store(ServerOptions options);

}  // namespace easyretry::storage::sql
