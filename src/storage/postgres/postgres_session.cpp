#include "storage/postgres/postgres_session.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>
#include <utility>

#include "base/later.h"
#include "storage/postgres/batch.h"
#include "storage/postgres/connection.h"
#include "storage/postgres/counting.h"
#include "storage/postgres/membership.h"
#include "storage/postgres/news_connection.h"
#include "storage/postgres/row_columns.h"
#include "storage/postgres/statements.h"
#include "storage/sql/inbox_columns.h"
#include "storage/sql/lane.h"
#include "storage/sql/server_error.h"
#include "task/task_id.h"

namespace easyretry::storage::postgres {
namespace {

using sql::DueQuery;
using sql::DueRow;
using sql::EndedRow;
using sql::KeyHolder;
using sql::KeysIn;
using sql::LiveKey;
using sql::Move;
using sql::Moved;
using sql::NewRules;
using sql::Promise;
using sql::Search;
using sql::ServerError;
using sql::TableFacts;
using sql::Trouble;

constexpr const char* kNow = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

// Instances that start together make tables one after the other. The number is ours alone: "easyretr" in ASCII.
constexpr const char* kOneAtATime = "BEGIN; SELECT pg_advisory_xact_lock(7305824436894787186);";
constexpr const char* kLayoutLock = "7305824436894787187";  // the number after it

std::vector<TaskId> ids_in(const Rows& rows) {
  std::vector<TaskId> ids;
  ids.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) ids.push_back(TaskId{rows.integer(i, 0)});
  return ids;
}

std::vector<EndedRow> ended_in(const Rows& rows) {
  std::vector<EndedRow> ended;
  ended.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    ended.push_back({TaskId{rows.integer(i, 0)}, std::string{rows.text(i, 1)}, std::string{rows.text(i, 2)}});
  }
  return ended;
}

std::vector<TaskRecord> records_in(const Rows& rows) {
  std::vector<TaskRecord> records;
  records.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) records.push_back(read_record(Row{rows, i}));
  return records;
}

std::int64_t limit(std::size_t rows) {
  return static_cast<std::int64_t>(std::min<std::size_t>(rows, std::numeric_limits<std::int64_t>::max()));
}

// Rows in the order of their keys: two batches that bring the same ones wait for each other, and never in a circle.
std::vector<TaskRecord> by_key(std::span<const TaskRecord> rows) {
  std::vector<TaskRecord> sorted{rows.begin(), rows.end()};
  std::stable_sort(sorted.begin(), sorted.end(), [](const TaskRecord& a, const TaskRecord& b) {
    return std::tie(a.info.space, a.info.key) < std::tie(b.info.space, b.info.key);
  });
  return sorted;
}

template <class T>
std::vector<T> by_id(std::span<const T> batch) {
  std::vector<T> sorted{batch.begin(), batch.end()};
  std::sort(sorted.begin(), sorted.end(), [](const T& a, const T& b) { return a.ticket.id < b.ticket.id; });
  return sorted;
}

// A text is found in its array by counting from the front: 6 us among 2,000, and 1.5 us among 500. Calls body(part) for
// one part after the other, and gives what all of them gave.
template <class T, class Body>
auto in_parts(std::span<const T> batch, Body body) {
  constexpr std::size_t kPart = 500;
  decltype(body(batch)) all;
  while (!batch.empty()) {
    const auto part = batch.first(std::min(batch.size(), kPart));
    auto applied = body(part);
    std::move(applied.begin(), applied.end(), std::back_inserter(all));
    batch = batch.subspan(part.size());
  }
  return all;
}

// What people wrote, or programs said, may be anything; here it becomes what a text may hold. Lives as long as the
// views that it gives.
class Cleaned {
 public:
  std::string_view operator()(std::string_view text) {
    if (text.empty()) return {};
    const bool fine = base::invalid_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos;
    return fine ? text : texts_.emplace_back(base::storable_utf8(text));
  }

 private:
  std::deque<std::string> texts_;
};

// The columns that a task and its history share.
RowColumns<TaskRecord> record_columns(Params& params, std::span<const TaskRecord> rows) {
  using R = TaskRecord;
  Cleaned clean;
  std::deque<std::string> tags;
  RowColumns<R> columns{params, rows};
  columns.numbers("id", [](const R& r) { return number(r.info.id); })
      .texts("namespace", [](const R& r) { return std::string_view{r.info.space}; })
      .texts("task_key", [](const R& r) { return std::string_view{r.info.key}; })
      .texts("method_name", [](const R& r) { return std::string_view{r.info.handler}; })
      .numbers("version", [](const R& r) { return r.info.version; })
      .texts("stage", [](const R& r) { return to_string(r.info.stage); })
      .texts("outcome", [](const R& r) { return r.info.outcome ? to_string(*r.info.outcome) : std::string_view{}; })
      .numbers("next_retry_time", [](const R& r) { return to_ms(r.info.next_at); })
      .numbers("attempt_count", [](const R& r) { return r.info.attempts; })
      .numbers("callback_count", [](const R& r) { return r.callback_attempts; })
      .numbers("crash_count", [](const R& r) { return r.info.crashes; })
      .numbers("delivery_count", [](const R& r) { return r.info.deliveries; })
      .numbers("generation", [](const R& r) { return r.info.generation; })
      .numbers("payload_version", [](const R& r) { return r.payload_version; })
      .numbers("max_attempts", [](const R& r) { return r.rules.max_attempts; })
      .numbers("created_at", [](const R& r) { return to_ms(r.info.created_at); })
      .numbers("max_retry_duration", [](const R& r) { return r.rules.max_duration.count(); })
      .numbers("deadline", [](const R& r) { return ms(r.rules.deadline); })
      .numbers("first_failed_at", [](const R& r) { return ms(r.info.first_failed_at); })
      .numbers("last_error_time", [](const R& r) { return ms(r.info.last_failed_at); })
      .texts("backoff_strategy", [](const R& r) { return or_null(r.rules.backoff); })
      .texts("business_type", [](const R& r) { return or_null(r.info.business_type); })
      .texts("business_id", [](const R& r) { return or_null(r.info.business_id); })
      .texts("tags",
             [&](const R& r) {
               if (r.info.tags.empty()) return std::string_view{};
               return clean(tags.emplace_back(tags_text(r.info.tags)));
             })
      .texts("traceparent", [&](const R& r) { return clean(r.info.traceparent); })
      .texts("progress", [&](const R& r) { return clean(r.info.progress); })
      .texts("last_error_msg", [&](const R& r) { return clean(r.info.last_error); })
      .bytes("params_json", [](const R& r) { return std::string_view{r.payload}; })
      .bytes("result_json", [](const R& r) { return or_null(r.result); });
  return columns;
}

template <class T>
Batch<T> with_tickets(Params& params, std::span<const T> batch) {
  Batch<T> columns{params, batch};
  columns.numbers([](const T& entry) { return number(entry.ticket.id); });
  columns.numbers([](const T& entry) { return entry.ticket.version; });
  return columns;
}

// Elsewhere a character that the encoding lacks would keep a task from being stored, or its error from being settled.
void check_encoding(const Connection& db) {
  if (db.encoding() == "UTF8") return;
  throw ServerError{Trouble::refused, "the database's encoding is " + db.encoding() +
                                          ", tasks are UTF-8: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE "
                                          "template0"};
}

class PostgresSession final : public sql::Session {
 public:
  explicit PostgresSession(const std::string& settings) : db_(settings) {
    check_encoding(db_);
    db_.run(statements::kSettings);
  }
  explicit PostgresSession(PGconn* theirs) : db_(theirs) {}

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
                             std::span<const TaskRecord> rows) override;
  std::vector<LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) override;
  void update_rules(const std::string& table, std::span<const NewRules> updates) override;
  std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) override;
  std::vector<KeyHolder> key_holders(std::span<const TaskRecord> keys) override;
  void free_keys(std::span<const TaskId> holders) override;

  std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) override;
  std::vector<EndedRow> finish(const std::string& table, const std::string& history,
                               std::span<const Settlement> settlements, TimePoint now) override;
  std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                 TimePoint now) override;
  std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) override;

  void hold(const std::string& table, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) override;
  void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) override;
  void remove(const std::string& table, std::span<const TaskId> ids) override;
  void insert_history(const std::string& history, std::span<const TaskRecord> rows) override;
  Moved move(const Move& move) override;
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

  void beat(const Beat& beat, TimePoint now) override { postgres::beat(db_, beat, now); }
  std::vector<Member> members(std::string_view space, TimePoint now) override {
    return postgres::members(db_, space, now);
  }
  bool leave(std::string_view space, std::string_view node) override { return postgres::leave(db_, space, node); }

  std::vector<DueRow> due(const std::string& table, const DueQuery& query) override;
  std::vector<TaskRecord> find(const std::string& table, bool history, std::span<const TaskId> ids) override;
  std::vector<TaskRecord> page(const Search& search) override;
  std::int64_t count(const Search& search) override;
  ShardPage shard_page(const ShardPageQuery& query, TimePoint now) override;

  std::vector<std::string> tables() override;
  void create_tasks(const std::string& table, KeysIn keys) override {
    define(table, statements::create_tasks(table, keys));
  }
  void create_keys() override { define("retry_task_key", statements::create_keys()); }
  void create_history(const std::string& table) override { define(table, statements::create_history(table)); }
  void create_inbox() override { define("retry_inbox", statements::create_inbox()); }
  void create_counts() override { define("retry_count", postgres::create_counts()); }
  void create_members() override { define("retry_member", postgres::create_members()); }
  void create_meta() override { define("retry_meta", statements::create_meta()); }
  void drop(const std::string& table) override { define(table, "DROP TABLE IF EXISTS " + table); }
  bool drop_empty(const std::string& table) override;
  std::vector<TableFacts> table_facts() override;
  void note(const KeepStep& step, TimePoint now, TimePoint forget_before) override;
  std::optional<std::string> meta(const std::string& name) override;
  std::string agree(const std::string& name, const std::string& value) override;
  bool change_meta(const std::string& name, const std::string& from, const std::string& to) override;
  std::string durability() override;

 private:
  static TimePoint time_in(const Rows& rows) { return from_ms(std::stoll(std::string{rows.text(0, 0)})); }
  static Params ids(std::span<const TaskId> ids);
  static Params keys(std::span<const TaskRecord> rows);
  std::string setting(const std::string& name) { return std::string{db_.run("SHOW " + name).text(0, 0)}; }
  void define(const std::string& table, const std::string& sql);

  Connection db_;
};

TimePoint PostgresSession::begin(Promise promise) {
  const char* wait = promise == Promise::kept ? "" : "SET LOCAL synchronous_commit = off; ";
  return time_in(db_.run(std::string{"BEGIN ISOLATION LEVEL READ COMMITTED; "} + wait + kNow));
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

std::vector<TaskId> PostgresSession::insert(const std::string& table, const std::string& history,
                                            std::span<const TaskRecord> rows) {
  const std::vector<TaskRecord> sorted = by_key(rows);
  using R = TaskRecord;
  Params params;
  Cleaned clean;
  auto columns = record_columns(params, sorted);
  columns.numbers("scan_time", [](const R& r) { return to_ms(r.info.next_at); })
      .texts("status", [](const R& r) { return to_string(r.info.state); })
      .numbers("shard", [](const R& r) { return static_cast<std::int64_t>(task::shard_of(r.info.id)); })
      .numbers("lane", [](const R& r) { return sql::lane_of(r.info.space, task::shard_of(r.info.id)); })
      .numbers("lease_until", [](const R& r) { return to_ms(r.lease_until); })
      .texts("locked_by", [&](const R& r) { return clean(r.locked_by); })
      .numbers("locked_at",
               [](const R& r) -> std::optional<std::int64_t> {
                 if (r.locked_by.empty()) return std::nullopt;
                 return to_ms(r.info.created_at);
               })
      .numbers("updated_at", [](const R& r) { return to_ms(r.info.created_at); });
  return ids_in(db_.run(statements::insert(table, columns.insert_list(), history), params));
}

std::vector<LiveKey> PostgresSession::live_keys(const std::string& table, std::span<const TaskRecord> keys) {
  const Rows rows = db_.run(statements::live_keys(table), PostgresSession::keys(keys));
  std::vector<LiveKey> live;
  for (int i = 0; i < rows.size(); ++i) {
    live.push_back({std::string{rows.text(i, 0)},
                    std::string{rows.text(i, 1)},
                    {TaskId{rows.integer(i, 2)}, rows.integer(i, 3), from_ms(rows.integer(i, 4)), false}});
  }
  return live;
}

std::vector<TaskId> PostgresSession::take_keys(std::span<const TaskRecord> rows) {
  const std::vector<TaskRecord> sorted = by_key(rows);
  Params params;
  Batch<TaskRecord>{params, sorted}
      .numbers([](const TaskRecord& r) { return number(r.info.id); })
      .texts([](const TaskRecord& r) { return std::string_view{r.info.space}; })
      .texts([](const TaskRecord& r) { return std::string_view{r.info.key}; });
  return ids_in(db_.run(statements::take_keys(), params));
}

std::vector<KeyHolder> PostgresSession::key_holders(std::span<const TaskRecord> keys) {
  const Rows rows = db_.run(statements::key_holders(), PostgresSession::keys(keys));
  std::vector<KeyHolder> holders;
  for (int i = 0; i < rows.size(); ++i) {
    holders.push_back({std::string{rows.text(i, 0)}, std::string{rows.text(i, 1)}, TaskId{rows.integer(i, 2)}});
  }
  return holders;
}

void PostgresSession::free_keys(std::span<const TaskId> holders) {
  remove("retry_task_key", holders);
}

void PostgresSession::update_rules(const std::string& table, std::span<const NewRules> updates) {
  const std::vector<NewRules> sorted = by_id(updates);
  Params params;
  Batch<NewRules>{params, sorted}
      .numbers([](const NewRules& r) { return number(r.ticket.id); })
      .numbers([](const NewRules& r) { return r.rules.max_attempts; })
      .numbers([](const NewRules& r) { return r.rules.max_duration.count(); })
      .maybe_numbers([](const NewRules& r) { return ms(r.rules.deadline); })
      .maybe_texts([](const NewRules& r) { return or_null(r.rules.backoff); });
  db_.run(statements::update_rules(table), params);
}

std::vector<TaskRecord> PostgresSession::claim(const std::string& table, const ClaimRequest& request, TimePoint now) {
  std::vector<Ticket> tickets{request.tickets.begin(), request.tickets.end()};
  std::sort(tickets.begin(), tickets.end());
  Params params;
  Batch<Ticket>{params, tickets}
      .numbers([](const Ticket& ticket) { return number(ticket.id); })
      .numbers([](const Ticket& ticket) { return ticket.version; });
  params.add(request.owner).add(to_ms(now)).add(to_ms(base::later(now, request.lease)));
  return records_in(db_.run(statements::claim(table), params));
}

std::vector<EndedRow> PostgresSession::finish(const std::string& table, const std::string& history,
                                              std::span<const Settlement> settlements, TimePoint now) {
  const std::vector<Settlement> sorted = by_id(settlements);
  return in_parts<Settlement>(sorted, [&](std::span<const Settlement> part) {
    Params params;
    auto batch = with_tickets<Settlement>(params, part);
    if (history.empty()) return ended_in(db_.run(statements::forget(table), params));
    params.add(to_ms(now));
    batch.free_texts([](const Settlement& s) { return or_null(s.error); });
    batch.texts([](const Settlement& s) { return to_string(s.outcome); });
    return ended_in(db_.run(statements::finish(table, history), params));
  });
}

std::vector<TaskId> PostgresSession::reschedule(const std::string& table, std::span<const Settlement> settlements,
                                                TimePoint now) {
  using Kind = Settlement::Kind;
  const auto advances = [](const Settlement& s) { return s.kind == Kind::advance; };
  const std::vector<Settlement> sorted = by_id(settlements);
  return in_parts<Settlement>(sorted, [&](std::span<const Settlement> part) {
    Params params;
    auto batch = with_tickets<Settlement>(params, part);
    params.add(to_ms(now));
    batch.free_texts([](const Settlement& s) { return or_null(s.error); })
        .numbers([&](const Settlement& s) {
          const bool as_it_was = s.kind == Kind::hand_back && s.delay <= Millis{0};
          return as_it_was ? to_ms(TimePoint::min()) : to_ms(base::later(now, s.delay));
        })
        .numbers([](const Settlement& s) { return s.kind == Kind::hand_back ? 1 : 0; })
        .maybe_texts([&](const Settlement& s) { return advances(s) ? to_string(s.stage) : std::string_view{}; })
        .maybe_texts([&](const Settlement& s) { return advances(s) ? to_string(s.outcome) : std::string_view{}; })
        .bytes([&](const Settlement& s) { return advances(s) ? std::string_view{s.result} : std::string_view{}; });
    return ids_in(db_.run(statements::reschedule(table), params));
  });
}

std::vector<TaskId> PostgresSession::renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) {
  const std::vector<Renewal> sorted = by_id(renewals);
  Params params;
  auto batch = with_tickets<Renewal>(params, sorted);
  params.add(to_ms(now));
  batch.numbers([&](const Renewal& renewal) { return to_ms(base::later(now, renewal.lease)); });
  batch.free_texts([](const Renewal& renewal) {
    return renewal.progress ? std::string_view{*renewal.progress} : std::string_view{};
  });
  return ids_in(db_.run(statements::renew(table), params));
}

Params PostgresSession::ids(std::span<const TaskId> ids) {
  Params params;
  Batch<TaskId>{params, ids}.numbers([](TaskId id) { return number(id); });
  return params;
}

Params PostgresSession::keys(std::span<const TaskRecord> rows) {
  Params params;
  Batch<TaskRecord>{params, rows}
      .texts([](const TaskRecord& r) { return std::string_view{r.info.space}; })
      .texts([](const TaskRecord& r) { return std::string_view{r.info.key}; });
  return params;
}

void PostgresSession::hold(const std::string& table, std::span<const TaskId> ids) {
  db_.run(statements::hold(table), PostgresSession::ids(ids));
}

std::vector<TaskRecord> PostgresSession::lock(const std::string& table, std::span<const TaskId> ids) {
  return records_in(db_.run(statements::lock(table), PostgresSession::ids(ids)));
}

void PostgresSession::update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) {
  Params params;
  Batch<TaskRecord> batch{params, rows};
  batch.numbers([](const TaskRecord& r) { return number(r.info.id); })
      .numbers([](const TaskRecord& r) { return r.info.version; })
      .texts([](const TaskRecord& r) { return to_string(r.info.state); })
      .texts([](const TaskRecord& r) { return to_string(r.info.stage); })
      .maybe_texts(
          [](const TaskRecord& r) { return r.info.outcome ? to_string(*r.info.outcome) : std::string_view{}; });
  params.add(to_ms(now));
  batch.numbers([](const TaskRecord& r) { return to_ms(r.info.next_at); });
  db_.run(statements::update(table), params);
}

void PostgresSession::remove(const std::string& table, std::span<const TaskId> ids) {
  db_.run(statements::remove(table), PostgresSession::ids(ids));
}

void PostgresSession::insert_history(const std::string& history, std::span<const TaskRecord> rows) {
  Params params;
  auto columns = record_columns(params, rows);
  columns.numbers("finished_at", [](const TaskRecord& r) { return ms(r.info.finished_at); });
  db_.run(statements::insert(history, columns.insert_list(), {}), params);
}

Moved PostgresSession::move(const Move& move) {
  Params params;
  params.add(limit(move.limit)).add(number(move.after));
  if (!move.shards.empty()) {
    Batch<ShardId>{params, move.shards}.numbers([](ShardId shard) { return static_cast<std::int64_t>(shard); });
  }
  const Rows moved = db_.run(statements::move(move.from, move.to, !move.shards.empty()), params);
  return {static_cast<std::size_t>(moved.integer(0, 0)), TaskId{moved.integer(0, 1)}};
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
  std::vector<InboxRow> found;
  for (int i = 0; i < rows.size(); ++i) found.push_back(sql::read_inbox_row(Row{rows, i}));
  return found;
}

void PostgresSession::refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) {
  Cleaned clean;
  db_.run(statements::refuse_inbox(), Params{}.add(id).add(clean(why)).add(to_ms(now)));
}

void PostgresSession::clear_inbox(std::span<const std::int64_t> ids) {
  db_.run(statements::clear_inbox(), Params{}.add(ids));
}

std::vector<DueRow> PostgresSession::due(const std::string& table, const DueQuery& query) {
  Params params;
  Batch<ShardCursor>{params, query.from}
      .numbers([&](const ShardCursor& from) { return sql::lane_of(query.space, from.shard); })
      .numbers([](const ShardCursor& from) { return to_ms(from.place); })
      .numbers([](const ShardCursor& from) { return number(from.id); });
  params.add(query.space).add(to_ms(query.until)).add(to_ms(query.now)).add(limit(query.limit));
  const Rows rows = db_.run(statements::due(table), params);
  std::vector<DueRow> due;
  due.reserve(static_cast<std::size_t>(rows.size()));
  for (int i = 0; i < rows.size(); ++i) {
    due.push_back({sql::shard_in(static_cast<std::int32_t>(rows.integer(i, 0))),
                   {TaskId{rows.integer(i, 1)}, rows.integer(i, 2)},
                   from_ms(rows.integer(i, 3)),
                   std::string{rows.text(i, 4)},
                   from_ms(rows.integer(i, 5))});
  }
  return due;
}

std::vector<TaskRecord> PostgresSession::find(const std::string& table, bool history, std::span<const TaskId> ids) {
  return records_in(db_.run(statements::find(table, history), PostgresSession::ids(ids)));
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
  std::vector<std::string> names;
  for (int i = 0; i < rows.size(); ++i) names.emplace_back(rows.text(i, 0));
  return names;
}

// IF NOT EXISTS alone does not keep two that make the same table at once from failing.
void PostgresSession::define(const std::string& table, const std::string& sql) {
  try {
    db_.run(kOneAtATime + sql + "; COMMIT");
  } catch (const ServerError& error) {
    if (!broken()) roll_back();
    throw ServerError{error.trouble(), table + ": " + error.what()};
  }
}

std::vector<TableFacts> PostgresSession::table_facts() {
  const Rows rows = db_.run(
      "SELECT c.relname::text, coalesce(s.n_live_tup, 0), pg_total_relation_size(c.oid) FROM pg_class c "
      "LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid WHERE c.relkind = 'r' AND c.relname LIKE 'retry\\_%' "
      "AND c.relnamespace::regnamespace::name = ANY(current_schemas(false)) ORDER BY c.relname COLLATE \"C\"",
      Params{});
  std::vector<TableFacts> facts;
  for (int i = 0; i < rows.size(); ++i) {
    facts.push_back({std::string{rows.text(i, 0)}, rows.integer(i, 1), rows.integer(i, 2)});
  }
  return facts;
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

std::string PostgresSession::durability() {
  if (setting("fsync") != "on")
    return "the server process failing; fsync is off, so a crash of its machine may lose or damage everything";
  if (setting("synchronous_commit") == "off")
    return "nothing for certain: synchronous_commit is off, a crash may take the last moments";
  return "the server, its operating system and its power failing";
}

}  // namespace

std::unique_ptr<sql::Session> connect(const std::string& settings) {
  return std::make_unique<PostgresSession>(settings);
}

std::unique_ptr<sql::Session> join(PGconn* theirs) {
  return std::make_unique<PostgresSession>(theirs);
}

}  // namespace easyretry::storage::postgres
