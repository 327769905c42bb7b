#pragma once
// The interface between the flow that all database servers share (server_store.h) and one kind of server: a connection
// with the statements of the verbs. Batch-first: each is one round trip, or a few, for any number of rows.
//
// Used by one thread at a time. Everything throws ServerError, and nothing waits forever, neither for a lock nor for a
// server that does not answer. After Trouble::gone or silent, or a failed roll_back(), the session is broken() and is
// closed. After any other trouble, roll_back() makes it usable again.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/later.h"
#include "base/random.h"
#include "storage/checks.h"
#include "storage/counts.h"
#include "storage/record_columns.h"
#include "storage/reshard.h"
#include "storage/retention.h"
#include "storage/server/connection_pool.h"
#include "storage/server/server_error.h"
#include "storage/store.h"
#include "task/task_id.h"

namespace easyretry::storage::sql {

using server::Caution;
using server::Locks;
using server::Point;
using server::Refusal;
using server::ServerError;
using server::to_error;
using server::Trouble;

// How long to wait for rows that another transaction holds, before Trouble::locked.
enum class LockWait {
  patient,  // 5 s
  brief,    // as long as healthy transactions take: 1 s on MariaDB and MySQL, 200 ms on PostgreSQL
  none,     // not at all, if the server can do that: MySQL waits 1 s for a unique key, PostgreSQL 10 ms
};

struct LiveKey {
  std::string name_space;
  std::string key;
  Inserted task;
};

struct KeyHolder {
  std::string name_space;
  std::string key;
  TaskId task{};
};

// Where the store ensures that a key has one live task.
enum class UniqueKeys {
  in_task_table,  // by a unique index: there is only one table of tasks
  in_key_table,   // retry_task_key, for tasks in several tables
};

struct EndedRow {
  TaskId id{};
  std::string name_space;
  std::string handler;
};

// An ended task, and the task it was requeued as.
struct Requeued {
  TaskId id{};
  TaskId as{};
};

struct EndedAt {
  TaskId id{};
  TimePoint finished_at{};
  bool expires = false;  // its handler belongs to the walk, and it need not be kept
};

struct NewRules {
  Ticket ticket;
  task::RetryRules rules;
};

// Not a DueTask: merging tables and paging need its shard and place, and no LoadReply has numbered its handler yet.
struct DueRow {
  ShardId shard{};
  Ticket ticket;
  TimePoint next_at{};
  std::string handler;
  TimePoint place{};  // the server orders rows by it: next_at, or a little earlier
  std::uint8_t suspicion = 0;
  TaskClass task_class = TaskClass::normal;
  bool retried = false;
};

struct DueQuery {
  std::string_view name_space;
  std::span<const ShardCursor> from;
  TimePoint now{};
  TimePoint until{};
  std::size_t limit = 0;  // per shard
};

// Facts that a load needs besides the due tasks, read at the same moment.
struct Glance {
  TimePoint now{};
  std::optional<std::string> total_shards{};  // from retry_meta, like the layout
  std::optional<std::string> layout{};
  bool inbox = false;  // there are calls of the requested handlers
};

struct DuePage {
  Glance glance;  // without the layout
  std::vector<DueRow> rows;
};

struct TableFacts {
  std::string name;
  std::int64_t rows = 0;  // estimated
  std::int64_t bytes = 0;
};

struct Move {
  std::string from;
  std::string to;
  std::size_t limit = 0;
  std::span<const ShardId> shards{};  // only these; empty: all
  TaskId after{};                     // rows with a greater id, in ascending order
};

struct Moved {
  std::size_t rows = 0;
  TaskId last{};  // if there were any
};

// One page of a list, or a count, of one table.
struct Search {
  const TaskQuery& query;
  std::string table;
  bool history = false;
  bool searched = false;    // of a scan: with the conditions of needs_walk() that SQL can express
  task::IdBounds within{};  // of a scan
};

// How far the next rows of a table reach.
struct Reach {
  std::int64_t rows = 0;
  TaskId last{};
};

// Reads a row of retry_inbox: id, method_name, params_json, task_key, business_type, business_id, traceparent,
// delay_ms, due_at, created_at. A delay counts from the application's statement, not from when the row is taken in.
template <class Row>
InboxRow read_inbox_row(const Row& row) {
  InboxRow read;
  read.id = row.integer(0);
  read.handler = row.text(1);
  read.payload = row.text(2);
  read.key = row.text(3);
  read.business_type = row.text(4);
  read.business_id = row.text(5);
  read.traceparent = row.text(6);
  const Millis delay{row.integer(7)};
  if (!row.is_null(8)) {
    read.due_at = from_ms(row.integer(8));
  } else if (delay > Millis{0}) {
    read.due_at = base::later(from_ms(row.integer(9)), delay);
  }
  return read;
}

// A result to be kept: retry_result.
struct KeptResult {
  TaskId id{};
  std::string_view result;
  TimePoint until{};
};

// Everything except live tasks: counts, results, retention, members, pauses, calls submitted by plain SQL.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // --- Inside a transaction ---

  // Writes Session::sums() in a transaction that the application commits.
  virtual void write_sums() = 0;
  // Listeners are notified when the transaction commits, if the server can do that.
  virtual void announce(const std::string& /*name_space*/) {}

  // Rows of the inbox that were not refused, locked until the transaction ends. Rows that others hold are skipped.
  virtual std::vector<InboxRow> inbox(const IntakeQuery& query) = 0;
  virtual void refuse_inbox(std::int64_t id, const std::string& why, TimePoint now) = 0;
  virtual void clear_inbox(std::span<const std::int64_t> ids) = 0;

  // Removes rows of retry_count_delta that no other transaction is taking, or days of retry_count, and adds them to
  // `into`. Returns how many there were.
  virtual std::size_t take_sums(std::size_t limit, Sums& into) = 0;
  virtual std::size_t take_days(TimePoint before, std::size_t limit, Sums& into) = 0;
  virtual void add_totals(const Sums& sums) = 0;

  // The first tasks that ended in the time of the walk, whatever their handlers, in the order of their end.
  virtual std::vector<EndedAt> ended(const std::string& history, const Walk& walk, std::size_t limit) = 0;
  virtual void remove_arguments(const std::string& history, std::span<const TaskId> ids) = 0;

  // For tasks that have just ended. If a result is already there, it stays.
  virtual void keep_results(std::span<const KeptResult> results) = 0;
  // Removes results whose time is over, the oldest first. Returns how many there were.
  virtual std::size_t drop_results(TimePoint now, std::size_t limit) = 0;

  // How far walks have come, in retry_retention. A mark never goes back.
  virtual void mark_retention(const Walk& walk, TimePoint until) = 0;
  virtual void save_series(std::string_view name_space, const SeriesPart& part) = 0;
  virtual PauseOutcome pause(std::string_view name_space, const PausedHandler& handler) = 0;
  virtual bool resume(std::string_view name_space, std::string_view handler) = 0;

  // --- In a separate transaction, usually one statement. `now` replaces the server's time. ---

  // Also removes members that are dead by now. May be repeated.
  virtual BeatReply beat(const Beat& beat, std::optional<TimePoint> now) = 0;
  virtual PausedReply paused(std::string_view name_space, std::optional<TimePoint> now) = 0;
  virtual Glance glance(const LoadQuery& query, std::optional<TimePoint> now) = 0;

  // --- Inside a transaction or not ---

  virtual void read_counts(std::string_view name_space, Sums& into) = 0;  // of both tables, as of one moment
  virtual bool has_sums() = 0;                                            // take_sums() would find some
  virtual std::vector<Member> members(std::string_view name_space, TimePoint now) = 0;  // alive; ascending node
  virtual bool leave(std::string_view name_space, std::string_view node) = 0;
  virtual RetentionMarks retention_marks() = 0;
  virtual std::vector<SeriesPart> saved_series(std::string_view name_space) = 0;

 protected:
  // An id for a row of retry_count_delta, which is never looked up by it. It is random, not drawn by the server: in the
  // application's transaction, a number that the server drew would change what LAST_INSERT_ID() and lastval() return.
  // With 63 bits, no id is drawn twice.
  std::int64_t random_row_id() { return static_cast<std::int64_t>(random_.next() >> 1U); }

 private:
  base::Random random_{base::random_seed()};
};

// Tables, settings that all instances share (retry_meta), and moves of rows from table to table.
class Schema {
 public:
  virtual ~Schema() = default;

  // --- Tables. Each may be repeated, and run by several instances at once. ---

  virtual std::vector<std::string> tables() = 0;      // all that begin with retry_, ascending
  virtual std::vector<TableFacts> table_facts() = 0;  // of the same
  virtual void create_tasks(const std::string& table, UniqueKeys keys) = 0;
  virtual void create_keys() = 0;
  virtual void create_history(const std::string& table) = 0;
  // Adds columns that a table of tasks or of history made by an earlier release lacks. Does nothing if there is no such
  // table.
  virtual void complete(const std::string& table) = 0;
  virtual void drop(const std::string& table) = 0;
  // Returns false and keeps the table if it has a row. No row can be added in between.
  virtual bool drop_empty(const std::string& table) = 0;
  // Writes the step to retry_keeper_log, and removes entries from before `forget_before`.
  virtual void note(const KeepStep& step, TimePoint now, TimePoint forget_before) = 0;

  // --- Versions (maintenance.h) ---

  // The version that this release needs.
  virtual int version() const = 0;
  // The statements from the version before it to this one, as far as they have not been run yet. Version 1 creates the
  // tables whose names do not depend on the layout or the month.
  virtual std::vector<std::string> migration(int version) = 0;
  // Runs a statement that defines tables, one instance at a time. Errors begin with `what`.
  virtual void define(const std::string& what, const std::string& statement) = 0;

  // --- retry_meta ---

  virtual std::optional<std::string> meta(const std::string& name) = 0;
  // Keeps an existing value. Returns the value that is stored afterwards.
  virtual std::string agree(const std::string& name, const std::string& value) = 0;
  // Inside a transaction: the `layout`. Until the transaction has ended, change_meta() changes nothing.
  virtual std::string hold_layout() = 0;
  // Waits for every transaction that holds the layout. Returns false and changes nothing if the value is not `from`
  // any more.
  virtual bool change_meta(const std::string& name, const std::string& from, const std::string& to) = 0;

  // --- Rows that change their table or their shard, inside a transaction ---

  virtual Moved move(const Move& move) = 0;  // as they are, from one table of tasks to another
  virtual ShardPage shard_page(const ShardPageQuery& query, TimePoint now) = 0;
  // Gives the rows of a page the shards that their ids have among `total_shards`.
  virtual void renumber(const ShardPageQuery& query, TaskId last) = 0;

  // --- The server's settings ---

  virtual Durability durability() = 0;
  virtual std::string missing() { return {}; }            // StoreInfo::missing
  virtual bool reads_run_ahead() const { return false; }  // StoreInfo::reads_run_ahead
};

// A connection: transactions, and the tasks in them.
class Session {
 public:
  virtual ~Session() = default;
  // On the same connection, in the same transaction.
  Ledger& ledger() { return ledger_; }
  Schema& schema() { return schema_; }
  virtual bool broken() const = 0;

  // Takes effect with the next begin().
  void wait_for_locks(LockWait wait) { lock_wait_ = wait; }
  // Read committed. Returns the server's time.
  virtual TimePoint begin(Promise promise) = 0;
  // With sums(). Only a failure here, with Trouble::gone or silent, leaves open whether the transaction was committed.
  virtual void commit() = 0;
  virtual void roll_back() noexcept = 0;
  // Counts of the tasks that this transaction has stored and ended so far.
  Sums& sums() { return sums_; }
  virtual TimePoint now() = 0;
  virtual bool in_transaction() = 0;
  // A statement that all servers understand.
  virtual void run(const std::string& statement) = 0;

  // --- Inside a transaction. Tables are named by the caller; rows are changed in ascending order of their ids. ---

  // Returns the ids of the rows stored. A row is left out if a live row has the same id or, with
  // UniqueKeys::in_task_table, the same key, or if a row in `history` (empty: not looked at) has the same id.
  virtual std::vector<TaskId> insert(const std::string& table, const std::string& history,
                                     std::span<const TaskRecord> rows) = 0;
  // Returns the keys that are live. Locks nothing.
  virtual std::vector<LiveKey> live_keys(const std::string& table, std::span<const TaskRecord> keys) = 0;
  virtual void update_rules(const std::string& table, std::span<const NewRules> updates) = 0;  // each task once

  // With UniqueKeys::in_key_table. Returns the ids of the rows whose keys were free; they are taken now.
  virtual std::vector<TaskId> take_keys(std::span<const TaskRecord> rows) = 0;
  // The holders of those keys that are taken. Locks nothing.
  virtual std::vector<KeyHolder> key_holders(std::span<const TaskRecord> keys) = 0;

  // Returns the tasks that were won, in their state after the claim. Names each task once.
  virtual std::vector<TaskRecord> claim(const std::string& table, const ClaimRequest& request, TimePoint now) = 0;
  // Returns the tasks that were finished. Names each task once. An empty `history` forgets them; if history already has
  // a record with the same id, that record stays.
  virtual std::vector<EndedRow> finish(const std::string& table, const std::string& history,
                                       std::span<const Settlement> settlements, TimePoint now) = 0;
  virtual std::vector<TaskId> reschedule(const std::string& table, std::span<const Settlement> settlements,
                                         TimePoint now) = 0;  // retry, advance, hand_back
  virtual std::vector<TaskId> renew(const std::string& table, std::span<const Renewal> renewals, TimePoint now) = 0;

  // Locks rows until the transaction ends. For rows that several statements are about to change: each statement visits
  // its rows in the order of their ids, but all of them together do not.
  virtual void hold(const std::string& table, std::span<const TaskId> ids) = 0;
  // The same for rows that no other transaction holds. Returns their ids.
  virtual std::vector<TaskId> hold_free(const std::string& table, std::span<const TaskId> ids) = 0;
  // Whole rows, locked until the transaction ends.
  virtual std::vector<TaskRecord> lock(const std::string& table, std::span<const TaskId> ids) = 0;
  virtual std::vector<TaskRecord> lock_history(const std::string& history, std::span<const TaskId> ids) = 0;
  // Writes back rows that are locked, in the order in which lock() gave them: all columns but those that never change
  // after the insert and those of update_rules().
  virtual void update(const std::string& table, std::span<const TaskRecord> rows, TimePoint now) = 0;
  virtual void remove(const std::string& table, std::span<const TaskId> ids) = 0;
  virtual void insert_history(const std::string& history, std::span<const TaskRecord> rows) = 0;
  // For rows that are locked, in ascending order of their ids.
  virtual void mark_requeued(const std::string& history, std::span<const Requeued> requeued) = 0;

  // --- Reads. `now` replaces the server's time. ---

  // Ledger::glance(), and the due tasks of the only table there is. `limit` is per shard.
  virtual DuePage load(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now) = 0;
  virtual std::vector<DueRow> due(const std::string& table, const DueQuery& query) = 0;
  virtual std::vector<TaskRecord> find(const std::string& table, bool history,
                                       std::span<const TaskId> ids) = 0;  // with results that are kept
  virtual std::vector<TaskRecord> page(const Search& search) = 0;
  // The next rows after query.after, whatever their conditions: by the primary key alone.
  virtual Reach reach(const Search& search, std::size_t rows) = 0;
  virtual std::int64_t count(const Search& search) = 0;

 protected:
  // Members of the derived class; they are not used before it is constructed.
  Session(Ledger& ledger, Schema& schema) : ledger_(ledger), schema_(schema) {}

  LockWait lock_wait_ = LockWait::patient;
  Sums sums_;

 private:
  Ledger& ledger_;
  Schema& schema_;
};

using Pool = server::ConnectionPool<Session>;

}  // namespace easyretry::storage::sql
