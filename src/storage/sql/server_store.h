#pragma once
// A store on a database server, whatever its kind. A Session talks to the server; ServerStore decides what is done in
// which transaction. Several processes may use one database; every change is a compare-and-set on (id, version).
// server_store.cpp has the life of a task, server_store_upkeep.cpp everything else.

#include <memory>
#include <optional>
#include <string>

#include "storage/server/group_inserts.h"
#include "storage/sql/inserts.h"
#include "storage/sql/server_options.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {

class ServerStore final : public Store {
 public:
  explicit ServerStore(ServerOptions options);

  // server_store.cpp
  InsertResult insert(std::span<const NewTask> tasks) override;
  Result<InsertReply> insert_within(const Transaction& transaction, std::span<const NewTask> tasks) override;
  Result<LoadReply> load(const LoadQuery& query) override;
  Result<ClaimReply> claim(const ClaimRequest& request) override;
  Result<Applied> settle(std::span<const Settlement> settlements) override;
  Result<Applied> renew(std::span<const Renewal> renewals) override;
  Result<Applied> revise(std::span<const Revision> revisions) override;
  Result<Applied> end(std::span<const Ending> endings) override;
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids, std::optional<TaskClass> as) override;
  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override;

  // server_store_upkeep.cpp
  StoreInfo info() const override { return info_; }
  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override;
  Result<std::vector<TaskRecord>> list(const TaskQuery& query) override;
  Result<std::int64_t> count(const TaskQuery& query) override;
  Result<Counts> counts(std::string_view name_space) override;
  Result<bool> fold_counts() override;
  Result<BeatReply> beat(const Beat& beat) override;
  Result<BeatReply> members(std::string_view name_space) override;
  Result<bool> leave(std::string_view name_space, std::string_view node) override;
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override;
  Result<bool> resume(std::string_view name_space, std::string_view handler) override;
  Result<PausedReply> paused(std::string_view name_space) override;
  Result<KeepReport> keep() override;
  Result<bool> expire(std::span<const Retention> rules) override;
  Result<ListPage> scan(const TaskQuery& query) override;
  Result<bool> save_series(std::string_view name_space, const SeriesPart& part) override;
  Result<std::vector<SeriesPart>> saved_series(std::string_view name_space) override;
  Result<std::vector<TableInfo>> tables() override;
  Result<std::vector<SplitMove>> split(const SplitRequest& request) override;
  Result<IntakeReply> take_in(const IntakeQuery& query, const Convert& convert) override;
  void announce(const std::string& name_space) override;
  std::unique_ptr<Subscription> listen(const std::string& name_space, std::function<void()> wake) override;

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
  // With told_at_once, it first checks which tasks are free.
  Result<ClaimReply> claim(const ClaimRequest& request, Locks locks);
  DuePage load_from_several_tables(Session& session, const LoadQuery& query);
  void check_shards(const Glance& glance);  // throws Refusal
  template <class Body>
  auto read(const char* verb, Body body) {
    return query_reads_.run(where(verb), std::move(body));
  }

  Result<IntakeReply> take_in_once(const IntakeQuery& query, const Convert& convert);
  IntakeReply take_in(Session& session, const IntakeQuery& query, const Convert& convert, TimePoint now);

  const ServerOptions options_;
  Pool control_;
  Pool data_;
  Pool queries_;
  Tables tables_;
  Reads query_reads_;
  Reads data_reads_;
  Reads control_reads_;
  Writes control_writes_;
  Writes data_writes_;
  Writes query_writes_;
  Inserts inserts_;
  ShardWatch shard_watch_;
  Caution claim_caution_;
  Caution settle_caution_;
  Caution renew_caution_;
  StoreInfo info_;
  std::string identity_;  // identity of the database: equal for two connections to the same database
  InsertTransactions insert_transactions_;
  server::GroupInserts group_;
};

// Connects, creates missing tables, and refuses a database that was created with other settings. Throws StoreError.
std::unique_ptr<Store> open_server_store(ServerOptions options);

}  // namespace easyretry::storage::sql
