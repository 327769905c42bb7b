#include "storage/postgres/postgres_session.h"

#include <type_traits>
#include <utility>

#include "base/random.h"
#include "storage/history.h"
#include "storage/postgres/changes.h"
#include "storage/postgres/cleaned.h"
#include "storage/postgres/connection.h"
#include "storage/postgres/counting.h"
#include "storage/postgres/inserts.h"
#include "storage/postgres/loading.h"
#include "storage/postgres/membership.h"
#include "storage/postgres/news_connection.h"
#include "storage/postgres/pauses.h"
#include "storage/postgres/rows.h"
#include "storage/postgres/statements.h"
#include "storage/server/server_error.h"
#include "storage/sql/inbox_columns.h"

namespace easyretry::storage::postgres {
namespace {

using server::ServerError;
using server::Trouble;
using sql::DuePage;
using sql::DueQuery;
using sql::DueRow;
using sql::EndedRow;
using sql::Glance;
using sql::KeyHolder;
using sql::KeysIn;
using sql::LiveKey;
using sql::Move;
using sql::Moved;
using sql::NewRules;
using sql::Search;
using sql::TableFacts;

const std::string kNow = std::string{"SELECT "} + statements::kServerTime;

// Instances that start together make tables one after the other. The number is ours alone: "easyretr" in ASCII.
constexpr const char* kOneAtATime = "BEGIN; SELECT pg_advisory_xact_lock(7305824436894787186);";
constexpr const char* kLayoutLock = "7305824436894787187";  // the number after it

// Elsewhere a character that the encoding lacks would keep a task from being stored, or its error from being settled.
void check_encoding(const Connection& db) {
  if (db.encoding() == "UTF8") return;
  throw ServerError{Trouble::refused,
                    "the database's encoding is " + db.encoding() +
                        ", but tasks are UTF-8: create one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE "
                        "template0"};
}

class PostgresSession final : public sql::Session, private sql::Ledger, private sql::Schema {
 public:
  PostgresSession(const std::string& settings, std::shared_ptr<NewKeys> new_keys)
      : Session(*this, *this), db_(settings), new_keys_(std::move(new_keys)) {
    check_encoding(db_);
    db_.run(statements::kSettings);
  }
  explicit PostgresSession(PGconn* theirs) : Session(*this, *this), db_(theirs) {}

  bool broken() const override { return db_.broken(); }
  TimePoint begin(Promise promise) override;
  void commit() override;
  void roll_back() noexcept override;
  void write_sums() override {
    if (!sums_.empty()) db_.run(insert_sums(db_, sums_, random_));
  }
  TimePoint now() override { return time_in(db_.run(kNow)); }
  bool in_transaction() override { return db_.in_transaction(); }
  void run(const std::string& statement) override { db_.run(statement); }

  std::vector<TaskId> insert(const std::string& table, const std::string& history,
                             std::span<const TaskRecord> rows) override {
    return expect_new(rows.size(), [&](Duplicates them) { return postgres::insert(db_, table, history, rows, them); });
  }
  std::vector<LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override {
    return postgres::live_keys(db_, table, keys);
  }
  void update_rules(const std::string& table, std::span<const NewRules> updates) override {
    postgres::update_rules(db_, table, updates);
  }
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override {
    return expect_new(rows.size(), [&](Duplicates them) { return postgres::take_keys(db_, rows, them); });
  }
  std::vector<KeyHolder> key_holders(std::span<const TaskRecord> keys) override {
    return postgres::key_holders(db_, keys);
  }

  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override {
    return postgres::claim(db_, table, request, now);
  }
  std::vector<EndedRow> finish(const std::string& table, const std::string& history,
                               std::span<const Settlement> settlements, TimePoint now) override {
    return expect_new(settlements.size(),
                      [&](Duplicates them) { return postgres::finish(db_, table, history, settlements, now, them); });
  }
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override {
    return postgres::reschedule(db_, table, settlements, now);
  }
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override {
    return postgres::renew(db_, table, renewals, now);
  }

  void hold(const std::string& table, std::span<const TaskId> ids) override { postgres::hold(db_, table, ids); }
  std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) override {
    return postgres::hold_free(db_, table, ids);
  }
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override {
    return postgres::lock(db_, table, ids);
  }
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override {
    postgres::update(db_, table, rows, now);
  }
  void remove(const std::string& table, std::span<const TaskId> ids) override { postgres::remove(db_, table, ids); }
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override {
    postgres::insert_history(db_, history, rows);
  }
  std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) override {
    return postgres::lock_history(db_, history, ids);
  }
  void mark_requeued(const std::string& history, std::span<const sql::Requeued> requeued) override {
    postgres::mark_requeued(db_, history, requeued);
  }
  Moved move(const Move& move) override { return postgres::move(db_, move); }
  void renumber(const ShardPageQuery& query, TaskId last) override;
  std::string hold_layout() override;
  void announce(const std::string& space) override;

  std::vector<InboxRow> inbox(const IntakeQuery& query) override;
  void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) override;
  void clear_inbox(std::span<const std::int64_t> ids) override;

  std::size_t take_sums(std::size_t limit, Sums& into) override { return postgres::take_sums(db_, limit, into); }
  std::size_t take_days(TimePoint before, std::size_t limit, Sums& into) override {
    return postgres::take_days(db_, before, limit, into);
  }
  void add_totals(const Sums& sums) override { postgres::add_totals(db_, sums); }
  void read_counts(std::string_view space, Sums& into) override { postgres::read_counts(db_, space, into); }
  bool has_sums() override { return db_.run("SELECT FROM retry_count_delta LIMIT 1").size() > 0; }

  BeatReply beat(const Beat& beat, std::optional<TimePoint> now) override { return postgres::beat(db_, beat, now); }
  std::vector<Member> members(std::string_view space, TimePoint now) override {
    return postgres::members(db_, space, now);
  }
  bool leave(std::string_view space, std::string_view node) override { return postgres::leave(db_, space, node); }

  Pausing pause(std::string_view space, const PausedHandler& handler) override {
    return postgres::pause(db_, space, handler);
  }
  bool resume(std::string_view space, std::string_view handler) override {
    return postgres::resume(db_, space, handler);
  }
  PausedReply paused(std::string_view space, std::optional<TimePoint> now) override {
    return postgres::paused(db_, space, now);
  }

  Glance glance(const LoadQuery& query, std::optional<TimePoint> now) override {
    return postgres::glance(db_, query, now);
  }
  DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) override {
    return postgres::load(db_, table, query, now);
  }
  std::vector<DueRow> due(const std::string& table, const DueQuery& query) override {
    return postgres::due(db_, table, query);
  }
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const Search& search) override;
  std::int64_t count(const Search& search) override;
  ShardPage shard_page(const ShardPageQuery& query, TimePoint now) override;

  std::vector<std::string> tables() override;
  void create_tasks(const std::string& table, KeysIn keys) override {
    define(table, statements::create_tasks(table, keys));
  }
  void create_keys() override { define("retry_task_key", statements::create_keys()); }
  void create_history(const std::string& table) override {
    complete_history(table);
    define(table, statements::create_history(table));
  }
  void complete_history(const std::string& table) override {
    if (lacks_marks(table)) define(table, statements::add_marks(table));
  }
  int version() const override { return 2; }
  std::vector<std::string> migration(int version) override;
  void define(const std::string& what, const std::string& sql) override;
  void drop(const std::string& table) override { define(table, "DROP TABLE IF EXISTS " + table); }
  bool drop_empty(const std::string& table) override;
  std::vector<TableFacts> table_facts() override;
  void note(const KeepStep& step, TimePoint now, TimePoint forget_before) override;
  std::optional<std::string> meta(const std::string& name) override;
  std::string agree(const std::string& name, const std::string& value) override;
  bool change_meta(const std::string& name, const std::string& from, const std::string& to) override;
  Durability durability() override;

 private:
  bool lacks_marks(const std::string& table) {
    return db_.run(statements::lacks_marks(), Params{}.add(std::string_view{table})).size() > 0;
  }
  static TimePoint time_in(const Rows& rows) { return from_ms(std::stoll(std::string{rows.text(0, 0)})); }
  std::string setting(const std::string& name) { return std::string{db_.run("SHOW " + name).text(0, 0)}; }
  template <class Insert>
  std::invoke_result_t<Insert, Duplicates> expect_new(std::size_t rows, Insert insert) {
    return new_keys_ ? new_keys_->expect(rows, insert) : insert(Duplicates::are_left_out);
  }

  Connection db_;
  base::Random random_{base::random_seed()};
  const std::shared_ptr<NewKeys> new_keys_;  // null on somebody else's connection, whose transaction must not fail
};

TimePoint PostgresSession::begin(Promise promise) {
  const char* wait = promise == Promise::kept ? "" : "SET LOCAL synchronous_commit = off; ";
  return time_in(db_.run(std::string{"BEGIN ISOLATION LEVEL READ COMMITTED; "} + statements::lock_timeout(lock_wait_) +
                         wait + kNow));
}

// A transaction that failed before is rolled back by COMMIT, without an error.
void PostgresSession::commit() {
  const Rows done = db_.run(insert_sums(db_, sums_, random_) + "COMMIT");
  if (std::string_view{PQcmdStatus(done.get())} != "COMMIT") {
    throw ServerError{Trouble::again, "the transaction was rolled back"};
  }
}

void PostgresSession::roll_back() noexcept {
  try {
    db_.run("ROLLBACK");
  } catch (const ServerError&) {
    // Then the connection is broken, and the server rolls back by itself.
  }
}

ShardPage PostgresSession::shard_page(const ShardPageQuery& query, TimePoint now) {
  const Rows rows = db_.run(statements::shard_page(query.table, query.total_shards),
                            Params{}.add(number(query.after)).add(limit(query.limit)).add(to_ms(now)));
  return {.rows = rows.integer(0, 0),
          .misnumbered = rows.integer(0, 1),
          .leased = rows.integer(0, 2),
          .last = TaskId{rows.integer(0, 3)},
          .holder = std::string{rows.text(0, 4)}};
}

void PostgresSession::renumber(const ShardPageQuery& query, TaskId last) {
  db_.run(statements::renumber(query.table, query.total_shards), Params{}.add(number(query.after)).add(number(last)));
}

// An advisory lock costs a write to nothing. Somebody else's transaction may look at a moment before the layout
// changed, and then fails by the lock on the row.
std::string PostgresSession::hold_layout() {
  const char* lock = db_.is_theirs() ? " FOR SHARE" : "";
  return std::string{db_.run(std::string{"SELECT pg_advisory_xact_lock_shared("} + kLayoutLock +
                             "); SELECT value FROM retry_meta WHERE name = 'layout'" + lock)
                         .text(0, 0)};
}

bool PostgresSession::change_meta(const std::string& name, const std::string& from, const std::string& to) {
  try {
    db_.run(std::string{"BEGIN; SELECT pg_advisory_xact_lock("} + kLayoutLock + ")");
    const Rows changed = db_.run("UPDATE retry_meta SET value = $3 WHERE name = $1 AND value = $2 RETURNING 1",
                                 Params{}.add(name).add(from).add(to));
    db_.run("COMMIT");
    return changed.size() == 1;
  } catch (const ServerError&) {
    if (!broken()) roll_back();
    throw;
  }
}

void PostgresSession::announce(const std::string& space) {
  db_.run("SELECT pg_notify($1, $2)", Params{}.add(kNewsChannel).add(space));
}

std::vector<InboxRow> PostgresSession::inbox(const IntakeQuery& query) {
  const std::vector<std::string_view> handlers{query.handlers.begin(), query.handlers.end()};
  Params params;
  params.add(query.space).add(handlers).add(limit(query.limit));
  const Rows rows = db_.run(statements::inbox(), params);
  return rows.each([&](int row) { return sql::read_inbox_row(Row{rows, row}); });
}

void PostgresSession::refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) {
  Cleaned clean;
  db_.run(statements::refuse_inbox(), Params{}.add(id).add(clean(why)).add(to_ms(now)));
}

void PostgresSession::clear_inbox(std::span<const std::int64_t> ids) {
  db_.run(statements::clear_inbox(), Params{}.add(ids));
}

std::vector<TaskRecord> PostgresSession::find(const std::string& table, bool history, std::span<const TaskId> ids) {
  return records_in(db_.run(statements::find(table, history), id_params(ids)));
}

std::vector<TaskRecord> PostgresSession::page(const Search& search) {
  Params params;
  std::string sql = "SELECT " + (search.history ? finished_columns() : live_columns()) + " FROM " + search.table +
                    statements::where(search, params);
  params.add(number(search.query.after)).add(limit(search.query.limit));
  sql += " AND id > $" + std::to_string(params.size() - 1) + " ORDER BY id LIMIT $" + std::to_string(params.size());
  return records_in(db_.run(sql, params));
}

std::int64_t PostgresSession::count(const Search& search) {
  Params params;
  const std::string sql = "SELECT count(*) FROM " + search.table + statements::where(search, params);
  return db_.run(sql, params).integer(0, 0);
}

std::vector<std::string> PostgresSession::tables() {
  const Rows rows = db_.run(
      "SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(false)) "
      "AND tablename LIKE 'retry\\_%' ORDER BY tablename COLLATE \"C\"");
  return rows.each([&](int row) { return std::string{rows.text(row, 0)}; });
}

// IF NOT EXISTS alone does not keep two that make the same table at once from failing.
void PostgresSession::define(const std::string& what, const std::string& sql) {
  try {
    db_.run(kOneAtATime + sql + "; COMMIT");
  } catch (const ServerError& error) {
    if (!broken()) roll_back();
    throw ServerError{error.trouble(), what + ": " + error.what()};
  }
}

std::vector<std::string> PostgresSession::migration(int version) {
  if (version == 1) {
    return {statements::create_meta(), create_counts(), create_members(), create_pauses(), statements::create_inbox()};
  }
  std::vector<std::string> steps;
  for (const std::string& table : tables()) {
    if (month_of_history_table(table) && lacks_marks(table)) steps.push_back(statements::add_marks(table));
  }
  return steps;
}

std::vector<TableFacts> PostgresSession::table_facts() {
  const Rows rows = db_.run(
      "SELECT c.relname::text, coalesce(s.n_live_tup, 0), pg_total_relation_size(c.oid) FROM pg_class c "
      "LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.relkind = 'r' AND c.relname LIKE 'retry\\_%' "
      "AND c.relnamespace::regnamespace::name = ANY(current_schemas(false)) ORDER BY c.relname COLLATE \"C\"",
      Params{});
  return rows.each([&](int row) {
    return TableFacts{std::string{rows.text(row, 0)}, rows.integer(row, 1), rows.integer(row, 2)};
  });
}

void PostgresSession::note(const KeepStep& step, TimePoint now, TimePoint forget_before) {
  db_.run("INSERT INTO retry_keeper_log (at, action, table_name, row_count) VALUES ($1, $2, $3, $4)",
          Params{}.add(to_ms(now)).add(sql::action_of(step)).add(step.table).add(step.rows));
  db_.run("DELETE FROM retry_keeper_log WHERE at < $1", Params{}.add(to_ms(forget_before)));
}

bool PostgresSession::drop_empty(const std::string& table) {
  try {
    db_.run("BEGIN; LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE");
    const bool empty = db_.run("SELECT FROM " + table + " LIMIT 1").size() == 0;
    if (empty) db_.run("DROP TABLE " + table);
    db_.run("COMMIT");
    return empty;
  } catch (const ServerError&) {
    if (!broken()) roll_back();
    throw;
  }
}

std::optional<std::string> PostgresSession::meta(const std::string& name) {
  Params params;
  params.add(name);
  const Rows rows = db_.run("SELECT value FROM retry_meta WHERE name = $1", params);
  return rows.size() == 0 ? std::nullopt : std::optional{std::string{rows.text(0, 0)}};
}

std::string PostgresSession::agree(const std::string& name, const std::string& value) {
  Params params;
  params.add(name).add(value);
  db_.run("INSERT INTO retry_meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", params);
  return meta(name).value_or(value);
}

Durability PostgresSession::durability() {
  if (setting("fsync") != "on")
    return {"a crash of the server process; fsync is off, so a crash of its machine may lose or damage everything"};
  if (setting("synchronous_commit") == "off")
    return {"nothing for sure: synchronous_commit is off, so a crash may lose the last moments", true};
  return {"a crash of the server or its operating system, and a power cut"};
}

}  // namespace

std::unique_ptr<sql::Session> connect(const std::string& settings, std::shared_ptr<NewKeys> new_keys) {
  return std::make_unique<PostgresSession>(settings, std::move(new_keys));
}

std::unique_ptr<sql::Session> join(PGconn* theirs) {
  return std::make_unique<PostgresSession>(theirs);
}

}  // namespace easyretry::storage::postgres
