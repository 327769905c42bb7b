#include "storage/postgres/statements.h"

#include <string_view>

#include "storage/record_columns.h"
#include "storage/shard_count.h"
#include "storage/sql/inbox_columns.h"

namespace easyretry::storage::postgres::statements {
namespace {

template <class... Parts>
std::string joined(Parts... parts) {
  std::string text;
  (text.append(parts), ...);
  return text;
}

// Times are milliseconds since 1970, UTC.
constexpr std::string_view kCommonColumns =
    "id bigint PRIMARY KEY, namespace text COLLATE \"C\" NOT NULL, task_key text COLLATE \"C\" NOT NULL, "
    "method_name text NOT NULL, "
    "version bigint NOT NULL, stage text NOT NULL, outcome text, next_retry_time bigint NOT NULL, "
    "attempt_count int NOT NULL, callback_count int NOT NULL, crash_count int NOT NULL, delivery_count int NOT NULL, "
    "generation int NOT NULL, payload_version int NOT NULL, max_attempts int NOT NULL, "
    "created_at bigint NOT NULL, max_retry_duration bigint NOT NULL, deadline bigint, first_failed_at bigint, "
    "last_error_time bigint, backoff_strategy text, business_type text, business_id text COLLATE \"C\", tags text, "
    "traceparent text, progress text, last_error_msg text, params_json bytea, result_json bytea, ";

// What goes from a task to history as it is.
constexpr std::string_view kCarried =
    "id, namespace, task_key, method_name, stage, next_retry_time, attempt_count, callback_count, crash_count, "
    "delivery_count, generation, payload_version, max_attempts, created_at, max_retry_duration, deadline, "
    "backoff_strategy, business_type, business_id, tags, traceparent, progress, params_json, result_json";

// The rows of a batch, by their ids in $1, and what the batch says of each by its place there. Written without a join:
// with a table that was small when the statement was planned, a join would walk all of it for each batch, in any order.
constexpr std::string_view kInBatch = " t.id = ANY($1::bigint[])";
constexpr std::string_view kHeld =
    " t.id = ANY($1::bigint[]) AND t.version = ($2::bigint[])[width_bucket(t.id, $1::bigint[])] AND "
    "t.status = 'RUNNING'";

std::string at_its_place(std::string_view array) {
  return joined("(", array, ")[width_bucket(t.id, $1::bigint[])]");
}

// A count that a hand has set to the end of its column must not fail the claim of all others.
std::string one_more(std::string_view count, std::string_view when) {
  return joined(count, " = least(", count, "::bigint + (", when, ")::int, 2147483647)");
}

std::string first_failed_at(const std::string& error) {
  return joined("CASE WHEN ", error, " IS NULL THEN first_failed_at ELSE coalesce(first_failed_at, $3) END");
}
std::string last_error_time(const std::string& error) {
  return joined("CASE WHEN ", error, " IS NULL THEN last_error_time ELSE $3 END");
}
std::string last_error_msg(const std::string& error) {
  return joined("coalesce(", error, ", last_error_msg)");
}

// What is there from before may lack a column. Said when a store is opened, it does not fail a task later.
std::string check_columns(const std::string& table, std::string_view of_its_own) {
  return joined("SELECT ", kCarried, ", version, outcome, first_failed_at, last_error_time, last_error_msg, ",
                of_its_own, " FROM ", table, " LIMIT 0;");
}

std::string comment(const std::string& table, std::string_view text) {
  return joined("COMMENT ON TABLE ", table, " IS '", text, "';");
}

std::string meta(std::string_view name) {
  return joined("(SELECT value FROM retry_meta WHERE name = '", name, "')");
}

std::string_view unless_there(Duplicates duplicates) {
  return duplicates == Duplicates::are_left_out ? " ON CONFLICT DO NOTHING" : "";
}

// As task::suspicion().
constexpr std::string_view kSuspicion =
    "CASE WHEN status = 'RUNNING' OR crash_count > 0 THEN crash_count::bigint + 1 + "
    "(status = 'RUNNING' AND locked_at IS NOT NULL)::int ELSE 0 END";

// 1 where there are any.
std::string waiting_calls(std::string_view space, std::string_view handlers) {
  return joined("EXISTS (SELECT FROM retry_inbox WHERE namespace = ", space,
                " AND refused_at IS NULL AND method_name = ANY(", handlers, "::text[]))::int::bigint");
}

// Nonsense, which only a hand can have made, is passed over: it could not be claimed, or its version not be raised.
std::string due_rows(const std::string& table, std::string_view until, std::string_view now) {
  return joined(
      "SELECT b.b_lane, l.id, l.version, l.next_retry_time, l.method_name, l.scan_time, l.suspicion "
      "FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS b(b_lane, b_time, b_id), "
      "LATERAL (SELECT id, version, next_retry_time, method_name, scan_time, ",
      kSuspicion, " AS suspicion FROM ", table,
      " t WHERE t.lane = b.b_lane::int AND t.namespace = $4 AND t.scan_time <= ", until,
      " AND t.next_retry_time <= ", until,
      " AND (t.scan_time, t.id + 0) > (b.b_time, b.b_id) AND t.version BETWEEN 1 AND 4611686018427387904 "
      "AND (t.status = 'PENDING' OR (t.status = 'RUNNING' AND t.lease_until <= greatest(",
      now, ", t.next_retry_time))) ORDER BY t.scan_time, t.id + 0 LIMIT $7) l");
}

}  // namespace

std::string later(std::string_view now, std::string_view delay) {
  return joined(now, " + least(", delay, ", 9223372036854775807 - ", now, ")");
}

// Half of each page is room for the new versions of rows that are claimed together: they need no other page and no
// index entry then, and a claim costs half (measured: 9 µs a row instead of 19 at a fillfactor of 70); and vacuum long
// before the dead ones are many.
//
// The due index goes by scan_time (see reschedule). It has the id plus nothing, so that it is of no use to whoever
// looks for ids: to a plan that was made when the table was empty it would be as good as the primary key, and walked as
// a whole when the table no longer is.
std::string create_tasks(const std::string& table, sql::KeysIn keys) {
  const std::string_view unique = keys == sql::KeysIn::tasks ? "UNIQUE " : "";
  return joined("CREATE TABLE IF NOT EXISTS ", table, " (", kCommonColumns,
                "scan_time bigint NOT NULL, status text NOT NULL, shard smallint NOT NULL, lane int NOT NULL, "
                "lease_until bigint NOT NULL DEFAULT 0, locked_by text, locked_at bigint, updated_at bigint NOT NULL) "
                "WITH (fillfactor = 45, "
                "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);",
                check_columns(table, "scan_time, status, shard, lane, lease_until, locked_by, locked_at, updated_at"),
                "CREATE ", unique, "INDEX IF NOT EXISTS ", table, "_key ON ", table, " (task_key, namespace);",
                "CREATE INDEX IF NOT EXISTS ", table, "_due ON ", table, " (lane, scan_time, (id + 0));",
                "CREATE INDEX IF NOT EXISTS ", table, "_business ON ", table,
                " (business_id) WHERE business_id IS NOT NULL;",
                comment(table, "EasyRetry: live tasks. Times are milliseconds since 1970, UTC"));
}

std::string create_keys() {
  return joined(
      "CREATE TABLE IF NOT EXISTS retry_task_key (id bigint PRIMARY KEY, namespace text COLLATE \"C\" NOT NULL, "
      "task_key text COLLATE \"C\" NOT NULL);"
      "CREATE UNIQUE INDEX IF NOT EXISTS retry_task_key_key ON retry_task_key (task_key, namespace);",
      comment("retry_task_key", "EasyRetry: the keys of all live tasks"));
}

// Keys are looked for by themselves, so that their index need not have an order (measured: 2.2 of the 15 µs a row that
// ends costs). One that was made with an order before does as well.
std::string create_history(const std::string& table) {
  return joined("CREATE TABLE IF NOT EXISTS ", table, " (", kCommonColumns,
                "finished_at bigint NOT NULL, requeued_as bigint);", check_columns(table, "finished_at, requeued_as"),
                "CREATE INDEX IF NOT EXISTS ", table, "_key ON ", table, " USING hash (task_key);",
                "CREATE INDEX IF NOT EXISTS ", table, "_business ON ", table,
                " (business_id) WHERE business_id IS NOT NULL;", "CREATE INDEX IF NOT EXISTS ", table, "_finished ON ",
                table, " (finished_at);", comment(table, "EasyRetry: tasks that ended in this month, UTC"));
}

// One row where there is such a table without it. ADD COLUMN IF NOT EXISTS alone would wait for everybody who reads the
// table, and let everybody wait, whenever a store is opened.
std::string lacks_marks() {
  return "SELECT 1 FROM pg_class c WHERE c.oid = to_regclass($1::text) AND NOT EXISTS (SELECT FROM pg_attribute a "
         "WHERE a.attrelid = c.oid AND a.attname = 'requeued_as' AND NOT a.attisdropped)";
}

// Nullable and without a default, it is noted in the catalogue alone, however many rows there are.
std::string add_marks(const std::string& table) {
  return joined("ALTER TABLE ", table, " ADD COLUMN IF NOT EXISTS requeued_as bigint");
}

std::string create_meta() {
  return "CREATE TABLE IF NOT EXISTS retry_meta (name text PRIMARY KEY, value text NOT NULL);"
         "CREATE TABLE IF NOT EXISTS retry_keeper_log (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
         "at bigint NOT NULL, action text NOT NULL, table_name text NOT NULL, row_count bigint NOT NULL)";
}

// Only what waits is in the index: rows that were refused, and stay, are in nobody's way.
std::string create_inbox() {
  return joined(
      "CREATE TABLE IF NOT EXISTS retry_inbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
      "namespace text NOT NULL DEFAULT 'default', method_name text NOT NULL, params_json text NOT NULL DEFAULT '[]', "
      "task_key text, business_type text, business_id text, traceparent text, delay_ms bigint NOT NULL DEFAULT 0, "
      "due_at bigint, created_at bigint NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, "
      "error text, refused_at bigint);"
      "CREATE INDEX IF NOT EXISTS retry_inbox_waiting ON retry_inbox (namespace, method_name) "
      "WHERE refused_at IS NULL;",
      comment("retry_inbox", "EasyRetry: calls submitted by plain SQL, until they become tasks. Insert your own here"));
}

std::string inbox() {
  return joined("SELECT ", sql::kInboxColumns,
                " FROM retry_inbox WHERE namespace = $1 AND refused_at IS NULL AND method_name = ANY($2::text[]) "
                "LIMIT $3 FOR UPDATE SKIP LOCKED");
}

std::string refuse_inbox() {
  return "UPDATE retry_inbox SET error = $2, refused_at = $3 WHERE id = $1";
}

std::string clear_inbox() {
  return "DELETE FROM retry_inbox WHERE id = ANY($1::bigint[])";
}

std::string insert(const std::string& table, const std::string& list, const std::string& history,
                   Duplicates duplicates) {
  std::string sql = "INSERT INTO " + table + list;
  if (!history.empty()) sql += " WHERE NOT EXISTS (SELECT 1 FROM " + history + " h WHERE h.id = b.id)";
  return joined(sql, unless_there(duplicates), " RETURNING id");
}

std::string live_keys(const std::string& table) {
  return joined("SELECT t.namespace, t.task_key, t.id, t.version, t.next_retry_time FROM (SELECT DISTINCT * FROM ",
                "unnest($1::text[], $2::text[]) AS k(k_space, k_key)) AS k JOIN ", table,
                " t ON t.namespace = k.k_space AND t.task_key = k.k_key");
}

std::string take_keys(Duplicates duplicates) {
  return joined(
      "INSERT INTO retry_task_key (id, namespace, task_key) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])",
      unless_there(duplicates), " RETURNING id");
}

std::string key_holders() {
  return "SELECT t.namespace, t.task_key, t.id FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS "
         "k(k_space, k_key)) AS k JOIN retry_task_key t ON t.namespace = k.k_space AND t.task_key = k.k_key";
}

std::string update_rules(const std::string& table) {
  return joined("UPDATE ", table, " t SET max_attempts = ", at_its_place("$2::bigint[]"),
                ", max_retry_duration = ", at_its_place("$3::bigint[]"), ", deadline = ", at_its_place("$4::bigint[]"),
                ", backoff_strategy = ", at_its_place("$5::text[]"), " WHERE", kInBatch);
}

// The due time plus nothing: the index that begins with it would give the rows in another order than that of their ids.
std::string claim(const std::string& table) {
  return joined("UPDATE ", table, " t SET status = 'RUNNING', version = version + 1, ",
                one_more("attempt_count", joined("status = 'PENDING' AND ", kIsRun)), ", ",
                one_more("callback_count", joined("status = 'PENDING' AND ", kIsCallback)), ", ",
                one_more("crash_count", "status <> 'PENDING' AND locked_at IS NOT NULL"), ", ",
                one_more("delivery_count", "TRUE"),
                ", locked_by = $3, locked_at = $6, lease_until = $5, updated_at = $4 WHERE", kInBatch,
                " AND t.version = ", at_its_place("$2::bigint[]"),
                " AND t.next_retry_time + 0 <= $4 "
                "AND (t.status = 'PENDING' OR (t.status = 'RUNNING' AND t.lease_until <= $4)) RETURNING ",
                live_columns());
}

// Where history may have an id already, which only a hand can have put there, it is looked for: ON CONFLICT writes
// every row twice over, as a promise first (measured: 11.7 µs a row instead of 13.8).
std::string finish(const std::string& table, const std::string& history, Duplicates duplicates) {
  const std::string but_those_there = joined(" WHERE NOT EXISTS (SELECT 1 FROM ", history, " h WHERE h.id = gone.id)");
  return joined("WITH gone AS (DELETE FROM ", table, " t WHERE", kHeld, " RETURNING t.*, ", at_its_place("$4::text[]"),
                " AS b_error, ", at_its_place("$5::text[]"), " AS b_outcome), kept AS (INSERT INTO ", history, " (",
                kCarried, ", version, outcome, finished_at, first_failed_at, last_error_time, last_error_msg) SELECT ",
                kCarried, ", version + 1, b_outcome, $3, ", first_failed_at("b_error"), ", ",
                last_error_time("b_error"), ", ", last_error_msg("b_error"), " FROM gone",
                duplicates == Duplicates::are_left_out ? but_those_there : "",
                ") SELECT id, namespace, method_name FROM gone");
}

std::string forget(const std::string& table) {
  return joined("DELETE FROM ", table, " t WHERE", kHeld, " RETURNING id, namespace, method_name");
}

// A hand back takes the attempt back, and leaves the due time alone unless it is to be later.
//
// A task that is due again soon keeps its place in the due index, where scans then meet it a little early and pass it
// over: an update that changes no index needs no new entry in any of them (measured: a task that fails once and then
// succeeds costs half). Soon is within the time that is read ahead; and no task stays for ever before the others.
std::string reschedule(const std::string& table) {
  const std::string error = at_its_place("$4::text[]");
  const std::string asked = at_its_place("$5::bigint[]");
  const std::string back = joined(at_its_place("$6::bigint[]"), " = 1");
  const std::string due =
      joined("CASE WHEN ", back, " THEN greatest(next_retry_time, ", asked, ") ELSE ", asked, " END");
  return joined("UPDATE ", table,
                " t SET status = 'PENDING', version = version + 1, locked_by = NULL, locked_at = NULL, "
                "lease_until = 0, updated_at = $3, attempt_count = attempt_count - (",
                back, " AND ", kIsRun, ")::int, callback_count = callback_count - (", back, " AND ", kIsCallback,
                ")::int, next_retry_time = ", due, ", scan_time = CASE WHEN ", due,
                " BETWEEN scan_time AND least(scan_time + 60000, $3::bigint + 5000) THEN scan_time ELSE ", due,
                " END, stage = coalesce(", at_its_place("$7::text[]"), ", stage), outcome = coalesce(",
                at_its_place("$8::text[]"), ", outcome), result_json = coalesce(", at_its_place("$9::bytea[]"),
                ", result_json), first_failed_at = ", first_failed_at(error),
                ", last_error_time = ", last_error_time(error), ", last_error_msg = ", last_error_msg(error), " WHERE",
                kHeld, " RETURNING id");
}

std::string renew(const std::string& table) {
  return joined("UPDATE ", table, " t SET lease_until = ", at_its_place("$4::bigint[]"),
                ", updated_at = $3, progress = coalesce(", at_its_place("$5::text[]"), ", progress) WHERE", kHeld,
                " RETURNING id");
}

std::string hold(const std::string& table) {
  return joined("SELECT count(*) FROM (SELECT FROM ", table, " t WHERE", kInBatch, " ORDER BY id FOR UPDATE) held");
}

std::string hold_free(const std::string& table) {
  return joined("SELECT id FROM ", table, " WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED");
}

std::string lock(const std::string& table) {
  return joined("SELECT ", live_columns(), " FROM ", table, " WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE");
}

std::string lock_history(const std::string& table) {
  return joined("SELECT ", finished_columns(), " FROM ", table, " WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE");
}

std::string mark_requeued(const std::string& table) {
  return joined("UPDATE ", table, " t SET requeued_as = ", at_its_place("$2::bigint[]"), " WHERE", kInBatch);
}

std::string update(const std::string& table) {
  return joined("UPDATE ", table, " t SET version = ", at_its_place("$2::bigint[]"),
                ", status = ", at_its_place("$3::text[]"), ", stage = ", at_its_place("$4::text[]"),
                ", outcome = ", at_its_place("$5::text[]"), ", next_retry_time = ", at_its_place("$7::bigint[]"),
                ", scan_time = ", at_its_place("$7::bigint[]"),
                ", lease_until = 0, locked_by = NULL, locked_at = NULL, updated_at = $6 WHERE", kInBatch);
}

std::string remove(const std::string& table) {
  return joined("DELETE FROM ", table, " WHERE id = ANY($1::bigint[])");
}

std::string move(const std::string& from, const std::string& to, bool some_shards) {
  const std::string columns = joined(kCarried,
                                     ", version, outcome, first_failed_at, last_error_time, last_error_msg, status, "
                                     "scan_time, shard, lane, lease_until, locked_by, locked_at, updated_at");
  const std::string_view which = some_shards ? " AND shard = ANY($3::bigint[])" : "";
  return joined("WITH gone AS (DELETE FROM ", from, " WHERE id = ANY(ARRAY(SELECT id FROM ", from, " WHERE id > $2",
                which, " ORDER BY id LIMIT $1 FOR UPDATE)) RETURNING ", columns, "), moved AS (INSERT INTO ", to, " (",
                columns, ") SELECT ", columns,
                " FROM gone RETURNING id) SELECT count(*), coalesce(max(id), 0) FROM moved");
}

std::string shard_page(const std::string& table, int total_shards) {
  return joined("SELECT count(*), count(*) FILTER (WHERE shard <> ", shard_by_id(total_shards),
                "), count(*) FILTER (WHERE leased), coalesce(max(id), 0), max(locked_by) FILTER (WHERE leased) FROM "
                "(SELECT id, shard, locked_by, status = 'RUNNING' AND lease_until > $3 AS leased FROM ",
                table, " WHERE id > $1 ORDER BY id LIMIT $2) page");
}

// A lane ends in the twelve bits of its shard.
std::string renumber(const std::string& table, int total_shards) {
  const std::string shard = shard_by_id(total_shards);
  return joined("UPDATE ", table, " SET shard = ", shard, ", lane = (lane & -4096) | (", shard,
                ")::int WHERE id > $1 AND id <= $2 AND shard <> ", shard);
}

std::string due(const std::string& table) {
  return due_rows(table, "$5", "$6");
}

std::string glance() {
  return joined("SELECT coalesce($3, ", kServerTime, "), ", waiting_calls("$1", "$2"), ", ", meta("total_shards"), ", ",
                meta("layout"));
}

std::string load(const std::string& table) {
  return joined("WITH clock AS MATERIALIZED (SELECT now, ", later("now", "$5"), " AS until FROM (SELECT coalesce($6, ",
                kServerTime, ") AS now) AS c) SELECT NULL::bigint, now, ", waiting_calls("$4", "$8"), ", 0::bigint, ",
                meta("total_shards"), ", 0::bigint, 0::bigint FROM clock UNION ALL ",
                due_rows(table, "(SELECT until FROM clock)", "(SELECT now FROM clock)"));
}

std::string find(const std::string& table, bool history) {
  return joined("SELECT ", history ? finished_columns() : live_columns(), " FROM ", table,
                " WHERE id = ANY($1::bigint[])");
}

std::string where(const sql::Search& search, Params& params) {
  std::string sql = " WHERE TRUE";
  const auto equal = [&](std::string_view column, std::string_view text) {
    if (text.empty()) return;
    params.add(text);
    sql.append(joined(" AND ", column, " = $", std::to_string(params.size())));
  };
  const TaskQuery& query = search.query;
  equal("namespace", query.space);
  equal("task_key", query.key);
  equal("method_name", query.handler);
  equal("business_type", query.business_type);
  equal("business_id", query.business_id);
  if (query.outcome) equal("outcome", to_string(*query.outcome));
  if (query.state && !search.history) equal("status", to_string(*query.state));
  const auto in_range = [&](std::string_view column, const TimeRange& range) {
    const auto bound = [&](std::string_view compare, const std::optional<TimePoint>& time) {
      if (!time) return;
      params.add(to_ms(*time));
      sql.append(joined(" AND ", column, compare, "$", std::to_string(params.size())));
    };
    bound(" >= ", range.from);
    bound(" < ", range.until);
  };
  in_range("created_at", query.created_at);
  if (search.history) in_range("finished_at", query.finished_at);
  if (search.history && !query.requeued) sql.append(" AND requeued_as IS NULL");
  if (!search.history && query.finished_at.restricts()) sql.append(" AND FALSE");
  // History has no column for it: all that is there has ended.
  if (query.state && search.history && *query.state != TaskState::finished) sql.append(" AND FALSE");
  return sql;
}

}  // namespace easyretry::storage::postgres::statements
