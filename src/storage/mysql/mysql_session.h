#pragma once
// Tasks in MariaDB 10.6 or MySQL 8: one wide row for each, InnoDB, READ COMMITTED. See schema.cpp and statements.h.

#include <string>
#include <vector>

#include "base/random.h"
#include "storage/mysql/connection.h"
#include "storage/mysql/membership.h"

namespace easyretry::storage::mysql {

class MysqlSession final : public sql::Session, private sql::Ledger, private sql::Schema {
 public:
  explicit MysqlSession(const MysqlAddress& address);
  explicit MysqlSession(MYSQL* theirs);

  bool broken() const override { return broken_ || connection_.broken(); }

  // InnoDB flushes every commit alike: what needs no promise is kept as well.
  TimePoint begin(Promise promise) override;
  void commit() override;
  void roll_back() noexcept override;
  void write_sums() override;
  TimePoint now() override;
  bool in_transaction() override;
  void run(const std::string& statement) override { connection_.run(statement); }

  std::vector<TaskId> insert(const std::string& table, const std::string& history,
                             std::span<const TaskRecord> rows) override;
  std::vector<sql::LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override;
  void update_rules(const std::string& table, std::span<const sql::NewRules> updates) override;
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override;
  std::vector<sql::KeyHolder> key_holders(std::span<const TaskRecord> keys) override;

  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override;
  std::vector<sql::EndedRow> finish(const std::string& table, const std::string& history,
                                    std::span<const Settlement> settlements, TimePoint now) override;
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override;
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override;

  void hold(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override;
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override;
  void remove(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) override;
  void mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) override;
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override;
  sql::Moved move(const sql::Move& move) override;
  void renumber(const ShardPageQuery& query, TaskId last) override;
  std::string hold_layout() override;

  std::vector<InboxRow> inbox(const IntakeQuery& query) override;
  void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) override;
  void clear_inbox(std::span<const std::int64_t> ids) override;

  std::size_t take_sums(std::size_t limit, Sums& into) override;
  std::size_t take_days(TimePoint before, std::size_t limit, Sums& into) override;
  void add_totals(const Sums& sums) override;
  void read_counts(std::string_view space, Sums& into) override;
  bool has_sums() override;
  BeatReply beat(const Beat& beat, std::optional<TimePoint> now) override;
  std::vector<Member> members(std::string_view space, TimePoint now) override;
  bool leave(std::string_view space, std::string_view node) override;
  Pausing pause(std::string_view space, const PausedHandler& handler) override;
  bool resume(std::string_view space, std::string_view handler) override;
  PausedReply paused(std::string_view space, std::optional<TimePoint> now) override;

  sql::Glance glance(const LoadQuery& query, std::optional<TimePoint> now) override;
  sql::DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<sql::DueRow> due(const std::string& table, const sql::DueQuery& query) override;
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const sql::Search& search) override;
  std::int64_t count(const sql::Search& search) override;
  ShardPage shard_page(const ShardPageQuery& query, TimePoint now) override;

  std::vector<std::string> tables() override;
  void create_tasks(const std::string& table, sql::KeysIn keys) override;
  void create_keys() override;
  void create_history(const std::string& table) override;
  void complete_history(const std::string& table) override;
  int version() const override { return 2; }
  std::vector<std::string> migration(int version) override;
  void define(const std::string& what, const std::string& statement) override;
  void drop(const std::string& table) override;
  bool drop_empty(const std::string& table) override;
  std::vector<sql::TableFacts> table_facts() override;
  void note(const KeepStep& step, TimePoint now, TimePoint forget_before) override;
  std::optional<std::string> meta(const std::string& name) override;
  std::string agree(const std::string& name, const std::string& value) override;
  bool change_meta(const std::string& name, const std::string& from, const std::string& to) override;

  Durability durability() override;
  // InnoDB shows a commit to others before it is flushed.
  bool reads_run_ahead() const override { return true; }

 private:
  // Names the table in what it throws.
  void create(const std::string& table, const std::string& create, const std::string& check);

  // The statement that sets it, to be sent before others.
  std::string set_lock_timeout(std::chrono::seconds timeout);

  Connection connection_;
  const std::chrono::seconds lock_timeout_{};
  const std::chrono::seconds brief_lock_timeout_{};
  std::chrono::seconds timeout_set_ = lock_timeout_;  // by set_up()
  base::Random random_{base::random_seed()};
  MemberList members_;
  bool broken_ = false;
};

}  // namespace easyretry::storage::mysql
