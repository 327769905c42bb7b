/* limit_postgres URL TASKS BATCH THREADS: the limits of a PostgreSQL server. COPY, prepared statements, arrays of numbers, binary
 * results; one transaction per statement. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "limits.h"

struct session {
  PGconn *connection;
  char *text; /* an array of a batch's numbers, or its rows for COPY */
};

static PGresult *checked(struct session *s, PGresult *result, const char *what) {
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN) fail(what, PQerrorMessage(s->connection));
  return result;
}

static void run(struct session *s, const char *statement) {
  PQclear(checked(s, PQexec(s->connection, statement), statement));
}

static void prepare(struct session *s, const char *name, const char *statement) {
  PQclear(checked(s, PQprepare(s->connection, name, statement, 0, NULL), name));
}

static const char *SCHEMA =
    "CREATE TABLE IF NOT EXISTS limit_task ("
    "id bigint PRIMARY KEY, state smallint NOT NULL, due_ms bigint NOT NULL, attempts smallint NOT NULL DEFAULT 0,"
    "owner int NOT NULL DEFAULT 0, lease_ms bigint NOT NULL DEFAULT 0, version int NOT NULL DEFAULT 0,"
    "kind smallint NOT NULL, payload bytea NOT NULL)"
    /* A claim changes no indexed column and finds room on its page, so it writes no index entry (a HOT update). */
    " WITH (fillfactor = 50, autovacuum_enabled = off);"
    "CREATE INDEX IF NOT EXISTS limit_task_due ON limit_task (due_ms);"
    "CREATE TABLE IF NOT EXISTS limit_lease (first bigint PRIMARY KEY, count int NOT NULL, owner int NOT NULL, until_ms bigint NOT NULL)";

static void prepare_all(struct session *s) {
  prepare(s, "load", "SELECT id, due_ms, version, kind, payload FROM limit_task WHERE state = 0 AND due_ms >= $1::bigint"
                     " ORDER BY due_ms LIMIT $2::int");
  prepare(s, "claim", "UPDATE limit_task SET state = 1, owner = 7, version = version + 1, attempts = attempts + 1, lease_ms = 5000"
                      " WHERE id = ANY($1::bigint[]) AND state = 0");
  prepare(s, "lease", "INSERT INTO limit_lease VALUES ($1::bigint, $2::int, 7, 5000)");
  prepare(s, "retry", "UPDATE limit_task SET state = 0, owner = 0, version = version + 1, due_ms = due_ms + $2::bigint"
                      " WHERE id = ANY($1::bigint[]) AND owner = 7");
  prepare(s, "finish", "DELETE FROM limit_task WHERE id = ANY($1::bigint[]) AND owner = 7");
  prepare(s, "finish_leased", "WITH held AS (DELETE FROM limit_lease WHERE first = $2::bigint AND owner = 7 RETURNING first)"
                              " DELETE FROM limit_task WHERE id = ANY($1::bigint[]) AND EXISTS (SELECT FROM held)");
}

static void *open_session(const struct plan *plan) {
  struct session *s = allocate(sizeof *s);
  s->connection = PQconnectdb(plan->target);
  if (PQstatus(s->connection) != CONNECTION_OK) fail("connect", PQerrorMessage(s->connection));
  s->text = allocate((unsigned long)plan->batch * (2 * NUMBER_LENGTH + sizeof PAYLOAD + 8) + 16);
  run(s, "SET client_min_messages = warning");
  run(s, SCHEMA);
  prepare_all(s);
  return s;
}

static void close_session(void *session) {
  struct session *s = session;
  PQfinish(s->connection);
  free(s->text);
  free(s);
}

static void clear(void *session) {
  run(session, "TRUNCATE limit_task, limit_lease");
}

static void settle(void *session) {
  run(session, "VACUUM ANALYZE limit_task");
}

static long insert(void *session, long first, int count) {
  struct session *s = session;
  char *end = s->text;
  for (long id = first; id < first + count; id++) end += sprintf(end, "%ld\t0\t%ld\t1\t%s\n", id, id, PAYLOAD);
  PQclear(checked(s, PQexec(s->connection, "COPY limit_task (id, state, due_ms, kind, payload) FROM STDIN"), "COPY"));
  if (PQputCopyData(s->connection, s->text, (int)(end - s->text)) != 1 || PQputCopyEnd(s->connection, NULL) != 1)
    fail("COPY", PQerrorMessage(s->connection));
  long stored = 0;
  for (PGresult *result; (result = PQgetResult(s->connection)); PQclear(result))
    stored += atol(PQcmdTuples(checked(s, result, "COPY")));
  return stored;
}

static long load(void *session, long due, int count) {
  struct session *s = session;
  char from[NUMBER_LENGTH], most[NUMBER_LENGTH];
  snprintf(from, sizeof from, "%ld", due);
  snprintf(most, sizeof most, "%d", count);
  PGresult *result = checked(s, PQexecPrepared(s->connection, "load", 2, (const char *[]){from, most}, NULL, NULL, 1), "load");
  const long rows = PQntuples(result);
  PQclear(result);
  return rows;
}

/* Runs a prepared statement whose first parameter is the array of the numbers. */
static long change(struct session *s, const char *name, long first, int count, const char *second) {
  char *end = s->text;
  *end++ = '{';
  end = append_numbers(end, first, count);
  *end++ = '}';
  *end = 0;
  const char *parameters[] = {s->text, second};
  PGresult *result = checked(s, PQexecPrepared(s->connection, name, second ? 2 : 1, parameters, NULL, NULL, 1), name);
  const long rows = atol(PQcmdTuples(result));
  PQclear(result);
  return rows;
}

static long claim(void *session, long first, int count) {
  return change(session, "claim", first, count, NULL);
}

static long lease(void *session, long first, int count) {
  struct session *s = session;
  char from[NUMBER_LENGTH], size[NUMBER_LENGTH];
  snprintf(from, sizeof from, "%ld", first);
  snprintf(size, sizeof size, "%d", count);
  PGresult *result = checked(s, PQexecPrepared(s->connection, "lease", 2, (const char *[]){from, size}, NULL, NULL, 1), "lease");
  const long rows = atol(PQcmdTuples(result));
  PQclear(result);
  return rows;
}

static long retry(void *session, long first, int count) {
  char later[NUMBER_LENGTH];
  snprintf(later, sizeof later, "%ld", RETRY_LATER);
  return change(session, "retry", first, count, later);
}

static long finish(void *session, long first, int count) {
  return change(session, "finish", first, count, NULL);
}

static long finish_leased(void *session, long first, int count) {
  char from[NUMBER_LENGTH];
  snprintf(from, sizeof from, "%ld", first);
  return change(session, "finish_leased", first, count, from);
}

int main(int argc, char **argv) {
  const struct verbs verbs = {"postgres", 64, open_session, close_session, clear, settle,
                              insert, load, claim, lease, retry, finish, finish_leased};
  return run_limits(argc, argv, &verbs);
}
