#pragma once
// The side of MariaDB 10.6 and MySQL 8 of sql/session.h: one wide InnoDB row per task, READ COMMITTED. The members are
// defined by topic: session.cpp (transactions), inserts.cpp, changes.cpp, reads.cpp, ledger.cpp and schema.cpp. The
// statements are in sql/*.sql and migrations/*.sql. Each of them finds its rows by the primary key, or by the index
// that it is forced to use; the hot ones sort nothing (tests/unit/mysql/plans_test.cpp).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

inline constexpr const char* kKeyTable = "retry_task_key";

// Counts, members, pauses and the inbox.
class MysqlLedger final : public sql::Ledger {
 public:
  // `sums` are those of the session's transaction.
  MysqlLedger(Connection& connection, const Sums& sums) : connection_(connection), sums_(sums) {}

  // The statement that writes the sums; empty if there are none. For a commit, at no cost of a round trip.
  std::string insert_sums();

  void write_sums() override;
  std::size_t take_sums(std::size_t limit, Sums& into) override;
  std::size_t take_days(TimePoint before, std::size_t limit, Sums& into) override;
  void add_totals(const Sums& sums) override;
  void read_counts(std::string_view name_space, Sums& into) override;
  bool has_sums() override;

  BeatReply beat(const Beat& beat, std::optional<TimePoint> now) override;
  std::vector<Member> members(std::string_view name_space, TimePoint now) override;
  bool leave(std::string_view name_space, std::string_view node) override;

  void keep_results(std::span<const sql::KeptResult> results) override;
  std::size_t drop_results(TimePoint now, std::size_t limit) override;

  void save_series(std::string_view name_space, const SeriesPart& part) override;
  PauseOutcome pause(std::string_view name_space, const PausedHandler& handler) override;
  bool resume(std::string_view name_space, std::string_view handler) override;
  PausedReply paused(std::string_view name_space, std::optional<TimePoint> now) override;

  RetentionMarks retention_marks() override;
  std::vector<sql::EndedAt> ended(const std::string& history, const Walk& walk, std::size_t limit) override;
  void remove_arguments(const std::string& history, std::span<const TaskId> ids) override;
  std::vector<SeriesPart> saved_series(std::string_view name_space) override;
  void mark_retention(const Walk& walk, TimePoint until) override;

  std::vector<InboxRow> inbox(const IntakeQuery& query) override;
  void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) override;
  void clear_inbox(std::span<const std::int64_t> ids) override;
  sql::Glance glance(const LoadQuery& query, std::optional<TimePoint> now) override;

 private:
  // The members as this session has read them last. A heartbeat asks only whether they are still the same.
  struct MemberList {
    std::string name_space;
    std::string node;  // whose heartbeats read it
    std::vector<Member> members;
    std::optional<std::int64_t> mark;  // of the list; empty if there is no list
  };
  BeatReply read_members(const Beat& beat, const std::string& now);

  Connection& connection_;
  const Sums& sums_;
  MemberList list_;
};

// Tables, retry_meta, and rows that change their table or their shard.
class MysqlSchema final : public sql::Schema {
 public:
  explicit MysqlSchema(Connection& connection) : connection_(connection) {}

  std::vector<std::string> tables() override;
  std::vector<sql::TableFacts> table_facts() override;
  void create_tasks(const std::string& table, sql::UniqueKeys keys) override;
  void create_keys() override;
  void create_history(const std::string& table) override;
  void complete(const std::string& table) override;
  void drop(const std::string& table) override;
  bool drop_empty(const std::string& table) override;
  void note(const KeepStep& step, TimePoint now, TimePoint forget_before) override;

  int version() const override { return 7; }
  std::vector<std::string> migration(int version) override;
  void define(const std::string& what, const std::string& statement) override;

  std::optional<std::string> meta(const std::string& name) override;
  std::string agree(const std::string& name, const std::string& value) override;
  std::string hold_layout() override;
  bool change_meta(const std::string& name, const std::string& from, const std::string& to) override;

  sql::Moved move(const sql::Move& move) override;
  ShardPage shard_page(const ShardPageQuery& query, TimePoint now) override;
  void renumber(const ShardPageQuery& query, TaskId last) override;

  Durability durability() override;
  // InnoDB shows a commit to others before it is flushed.
  bool reads_run_ahead() const override { return true; }

 private:
  // The statements that add the columns of a schema version that this table lacks.
  std::vector<std::string> new_columns(int version, const std::string& table);
  bool lacks(const std::string& table, const std::string& column);

  Connection& connection_;
};

class MysqlSession final : public sql::Session {
 public:
  explicit MysqlSession(const MysqlAddress& address);
  explicit MysqlSession(MYSQL* joined);  // a connection of the application

  bool broken() const override { return connection_.broken(); }

  // InnoDB flushes every commit alike, so the promise makes no difference.
  TimePoint begin(Promise promise) override;
  void commit() override;
  void roll_back() noexcept override { connection_.roll_back(); }
  TimePoint now() override;
  bool in_transaction() override { return connection_.in_transaction(); }
  void run(const std::string& statement) override { connection_.run(statement); }

  std::vector<TaskId> insert(const std::string& table, const std::string& history,
                             std::span<const TaskRecord> rows) override;
  std::vector<sql::LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override;
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override;
  std::vector<sql::KeyHolder> key_holders(std::span<const TaskRecord> keys) override;
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override;

  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override;
  std::vector<sql::EndedRow> finish(const std::string& table, const std::string& history,
                                    std::span<const Settlement> settlements, TimePoint now) override;
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override;
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override;
  void update_rules(const std::string& table, std::span<const sql::NewRules> updates) override;
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override;
  void remove(const std::string& table, std::span<const TaskId> ids) override;
  void mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) override;

  void hold(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) override;
  sql::DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<sql::DueRow> due(const std::string& table, const sql::DueQuery& query) override;
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const sql::Search& search) override;
  sql::Reach reach(const sql::Search& search, std::size_t rows) override;
  std::int64_t count(const sql::Search& search) override;

 private:
  Connection connection_;
  MysqlSchema schema_{connection_};
  MysqlLedger ledger_{connection_, sums()};
};

// Statements that are composed at run time.
//
// For each shard, what is claimable now or when its time comes, ordered by (next_at, id): shard, id, version, next_at,
// handler, suspicion, class, whether it was attempted before.
std::string due_statement(const std::string& table, const sql::DueQuery& query);
// The same, and among the rows one with kNoShard: time, whether the inbox has calls, 0, total_shards.
std::string load_statement(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now);
inline constexpr int kNoShard = -1;  // as in sql/load.sql
std::string page_statement(const sql::Search& search);
std::string count_statement(const sql::Search& search);

}  // namespace easyretry::storage::mysql
