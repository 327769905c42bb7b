#pragma once
// PostgreSQL's side of sql/session.h. The members are defined by topic: session.cpp (transactions and reads),
// writes.cpp, ledger.cpp and schema.cpp. The statements are in sql/*.sql and migrations/*.sql.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/postgres/connection.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

enum class Duplicates { fail, are_left_out };

// Whether the rows of a large batch are assumed to be new, as they nearly always are. ON CONFLICT costs a fifth of an
// insert: it looks into every unique index first, and writes every row twice, the first time speculatively. Without it,
// a row that exists already fails the transaction, which is then repeated with ON CONFLICT. So are the next thousand
// batches of all connections: if keys do come twice, one batch in a thousand fails.
//
// Shared by the connections of a store. Safe to use from any thread.
class NewKeys {
 public:
  // insert(duplicates) -> answer. Throws what insert throws; a duplicate is Trouble::again.
  template <class Insert>
  auto expect(std::size_t rows, Insert insert) {
    if (rows < kLarge || doubted()) return insert(Duplicates::are_left_out);
    try {
      return insert(Duplicates::fail);
    } catch (const server::ServerError& error) {
      if (error.trouble() == server::Trouble::again) doubts_ = kDoubted;
      throw;
    }
  }

 private:
  static constexpr std::size_t kLarge = 200;  // with fewer, the commit is most of the time
  static constexpr int kDoubted = 1000;

  bool doubted() {
    if (doubts_ <= 0) return false;
    --doubts_;
    return true;
  }

  std::atomic<int> doubts_ = 0;
};

// Throws ServerError if the server is too old. 150019 is version 15.19.
void check_version(int version);

// Behind a pooler, the settings that each transaction begins with. Otherwise empty: the connection has them.
std::string settings_of_transaction(const Connection& db);

// Counts, members, pauses, retention and the inbox.
class PostgresLedger final : public sql::Ledger {
 public:
  // Neither reference is used before both objects are constructed.
  PostgresLedger(Connection& db, const Sums& sums) : db_(db), sums_(sums) {}

  // The sums of this transaction as a statement that ends in a semicolon, so that it shares a round trip with the next
  // one. Empty if there is nothing to count.
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

  sql::Glance glance(const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<InboxRow> inbox(const IntakeQuery& query) override;
  void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) override;
  void clear_inbox(std::span<const std::int64_t> ids) override;
  void announce(const std::string& name_space) override;

 private:
  Connection& db_;
  const Sums& sums_;
};

// Tables, retry_meta and moves.
class PostgresSchema final : public sql::Schema {
 public:
  explicit PostgresSchema(Connection& db) : db_(db) {}

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
  std::string missing() override;

 private:
  // The statements that add the columns of a schema version that this table lacks.
  std::vector<std::string> new_columns(int version, const std::string& table);
  bool lacks(std::string_view table, std::string_view column);
  std::string setting(const std::string& name) { return db_.run("SHOW " + name).str(0, 0); }
  template <class Body>
  bool in_transaction(const std::string& begin, Body body);

  Connection& db_;
};

class PostgresSession final : public sql::Session {
 public:
  // `settings` as libpq takes them: host=… port=… user=…. Throws server::ServerError, also if the server is too old.
  PostgresSession(const std::string& settings, std::shared_ptr<NewKeys> new_keys, const server::Demotions& demotions);
  // On a connection of the application, which stays open.
  explicit PostgresSession(PGconn* borrowed);

  // session.cpp
  bool broken() const override { return db_.broken(); }
  bool behind_pooler() const { return db_.behind_pooler(); }
  TimePoint begin(Promise promise) override;
  void commit() override;
  void roll_back() noexcept override { db_.roll_back(); }
  TimePoint now() override;
  bool in_transaction() override { return db_.in_transaction(); }
  void run(const std::string& statement) override { db_.run(statement); }
  sql::DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) override;
  std::vector<sql::DueRow> due(const std::string& table, const sql::DueQuery& query) override;
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const sql::Search& search) override;
  sql::Reach reach(const sql::Search& search, std::size_t rows) override;
  std::int64_t count(const sql::Search& search) override;

  // writes.cpp
  std::vector<TaskId> insert(const std::string& table, const std::string& history,
                             std::span<const TaskRecord> rows) override;
  std::vector<sql::LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override;
  void update_rules(const std::string& table, std::span<const sql::NewRules> updates) override;
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override;
  std::vector<sql::KeyHolder> key_holders(std::span<const TaskRecord> keys) override;
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override;

  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override;
  std::vector<sql::EndedRow> finish(const std::string& table, const std::string& history,
                                    std::span<const Settlement> settlements, TimePoint now) override;
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override;
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override;
  void hold(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) override;
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override;
  void remove(const std::string& table, std::span<const TaskId> ids) override;
  void mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) override;

 private:
  template <class Insert>
  std::invoke_result_t<Insert, Duplicates> expect_new(std::size_t rows, Insert insert) {
    return new_keys_ ? new_keys_->expect(rows, insert) : insert(Duplicates::are_left_out);
  }

  Connection db_;
  PostgresLedger ledger_{db_, sums_};
  PostgresSchema schema_{db_};
  const std::shared_ptr<NewKeys> new_keys_;  // null on a borrowed connection: its transaction must not fail
};

// Its values are added to `params`, which are empty.
std::string page_statement(const sql::Search& search, Params& params);

}  // namespace easyretry::storage::postgres
