/* limit_sqlite FILE TASKS BATCH 1: the limits of SQLite with a write-ahead log that each commit syncs. Prepared statements for a row
 * each, one transaction per batch. SQLite has one writer, so more threads would only wait for each other. */
#include <sqlite3.h>
#include <stdlib.h>

#include "limits.h"

enum statement { BEGIN, COMMIT, INSERT, LOAD, CLAIM, LEASE, RETRY, FINISH, END_LEASE, FINISH_LEASED, STATEMENTS };

static const char *TEXTS[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [INSERT] = "INSERT INTO limit_task (id, state, due_ms, kind, payload) VALUES (?1, 0, ?1, 1, '" PAYLOAD "')",
    [LOAD] = "SELECT id, due_ms, version, kind, payload FROM limit_task WHERE state = 0 AND due_ms >= ?1 ORDER BY due_ms LIMIT ?2",
    [CLAIM] = "UPDATE limit_task SET state = 1, owner = 7, version = version + 1, attempts = attempts + 1, lease_ms = 5000"
              " WHERE id = ?1 AND state = 0",
    [LEASE] = "INSERT INTO limit_lease VALUES (?1, ?2, 7, 5000)",
    [RETRY] = "UPDATE limit_task SET state = 0, owner = 0, version = version + 1, due_ms = due_ms + ?2 WHERE id = ?1 AND owner = 7",
    [FINISH] = "DELETE FROM limit_task WHERE id = ?1 AND owner = 7",
    [END_LEASE] = "DELETE FROM limit_lease WHERE first = ?1 AND owner = 7",
    [FINISH_LEASED] = "DELETE FROM limit_task WHERE id = ?1",
};

static const char *SCHEMA =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY;"
    "CREATE TABLE IF NOT EXISTS limit_task ("
    "id integer PRIMARY KEY, state int NOT NULL, due_ms int NOT NULL, attempts int NOT NULL DEFAULT 0,"
    "owner int NOT NULL DEFAULT 0, lease_ms int NOT NULL DEFAULT 0, version int NOT NULL DEFAULT 0,"
    "kind int NOT NULL, payload blob NOT NULL);"
    "CREATE INDEX IF NOT EXISTS limit_task_due ON limit_task (due_ms);"
    "CREATE TABLE IF NOT EXISTS limit_lease (first integer PRIMARY KEY, count int NOT NULL, owner int NOT NULL, until_ms int NOT NULL)";

struct session {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENTS];
};

static void run(struct session *s, const char *text) {
  if (sqlite3_exec(s->db, text, NULL, NULL, NULL)) fail(text, sqlite3_errmsg(s->db));
}

static void *open_session(const struct plan *plan) {
  struct session *s = allocate(sizeof *s);
  if (sqlite3_open(plan->target, &s->db)) fail(plan->target, sqlite3_errmsg(s->db));
  sqlite3_busy_timeout(s->db, 30000);
  run(s, SCHEMA);
  for (int i = 0; i < STATEMENTS; i++)
    if (sqlite3_prepare_v2(s->db, TEXTS[i], -1, &s->statements[i], NULL)) fail(TEXTS[i], sqlite3_errmsg(s->db));
  return s;
}

static void close_session(void *session) {
  struct session *s = session;
  for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(s->statements[i]);
  sqlite3_close(s->db);
  free(s);
}

static void clear(void *session) {
  run(session, "DELETE FROM limit_task; DELETE FROM limit_lease");
}

static void settle(void *session) {
  run(session, "ANALYZE");
}

/* Changed rows. */
static long step(struct session *s, enum statement which, long first, long second) {
  sqlite3_stmt *statement = s->statements[which];
  if (sqlite3_bind_parameter_count(statement) > 0) sqlite3_bind_int64(statement, 1, first);
  if (sqlite3_bind_parameter_count(statement) > 1) sqlite3_bind_int64(statement, 2, second);
  if (sqlite3_step(statement) != SQLITE_DONE) fail(TEXTS[which], sqlite3_errmsg(s->db));
  sqlite3_reset(statement);
  return sqlite3_changes(s->db);
}

static long each(struct session *s, enum statement which, long first, int count) {
  long changed = 0;
  for (long id = first; id < first + count; id++) changed += step(s, which, id, RETRY_LATER);
  return changed;
}

static long in_transaction(void *session, enum statement which, long first, int count) {
  step(session, BEGIN, 0, 0);
  const long changed = each(session, which, first, count);
  step(session, COMMIT, 0, 0);
  return changed;
}

static long load(void *session, long due, int count) {
  struct session *s = session;
  sqlite3_stmt *statement = s->statements[LOAD];
  sqlite3_bind_int64(statement, 1, due);
  sqlite3_bind_int(statement, 2, count);
  long rows = 0;
  for (; sqlite3_step(statement) == SQLITE_ROW; rows++)
    if (!sqlite3_column_blob(statement, 4)) fail("load", "a task has no payload");
  sqlite3_reset(statement);
  return rows;
}

static long insert(void *session, long first, int count) {
  return in_transaction(session, INSERT, first, count);
}

static long claim(void *session, long first, int count) {
  return in_transaction(session, CLAIM, first, count);
}

static long lease(void *session, long first, int count) {
  return step(session, LEASE, first, count);
}

static long retry(void *session, long first, int count) {
  return in_transaction(session, RETRY, first, count);
}

static long finish(void *session, long first, int count) {
  return in_transaction(session, FINISH, first, count);
}

static long finish_leased(void *session, long first, int count) {
  step(session, BEGIN, 0, 0);
  if (step(session, END_LEASE, first, 0) != 1) fail("finish", "the lease is not held");
  const long changed = each(session, FINISH_LEASED, first, count);
  step(session, COMMIT, 0, 0);
  return changed;
}

int main(int argc, char **argv) {
  const struct verbs verbs = {"sqlite", 1, open_session, close_session, clear, settle,
                              insert, load, claim, lease, retry, finish, finish_leased};
  return run_limits(argc, argv, &verbs);
}
