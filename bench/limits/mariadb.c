/* limit_mariadb mysql://USER:PASSWORD@HOST:PORT/DATABASE TASKS BATCH THREADS: the limits of a MariaDB or MySQL server. Statements with
 * many rows as text, which are quicker than prepared ones for a row each; one transaction per statement. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

struct session {
  MYSQL *connection;
  char *text;
};

/* Rows that were found or changed. */
static long run(struct session *s, const char *statement, size_t length) {
  if (mysql_real_query(s->connection, statement, length)) fail("query", mysql_error(s->connection));
  MYSQL_RES *result = mysql_store_result(s->connection);
  if (!result) return (long)mysql_affected_rows(s->connection);
  const long rows = (long)mysql_num_rows(result);
  mysql_free_result(result);
  return rows;
}

static long run_text(struct session *s, const char *statement) {
  return run(s, statement, strlen(statement));
}

static const char *TASKS =
    "CREATE TABLE IF NOT EXISTS limit_task ("
    "id bigint PRIMARY KEY, state smallint NOT NULL, due_ms bigint NOT NULL, attempts smallint NOT NULL DEFAULT 0,"
    "owner int NOT NULL DEFAULT 0, lease_ms bigint NOT NULL DEFAULT 0, version int NOT NULL DEFAULT 0,"
    "kind smallint NOT NULL, payload varbinary(2000) NOT NULL, KEY due (due_ms)) ENGINE=InnoDB";
static const char *LEASES =
    "CREATE TABLE IF NOT EXISTS limit_lease ("
    "first bigint PRIMARY KEY, count int NOT NULL, owner int NOT NULL, until_ms bigint NOT NULL) ENGINE=InnoDB";

struct address {
  char user[64], password[64], host[64], database[64];
  unsigned port;
};

static struct address read_url(const char *url) {
  struct address a;
  if (sscanf(url, "mysql://%63[^:]:%63[^@]@%63[^:]:%u/%63[^?]", a.user, a.password, a.host, &a.port, a.database) != 5)
    fail(url, "is no mysql://USER:PASSWORD@HOST:PORT/DATABASE");
  return a;
}

static void *open_session(const struct plan *plan) {
  struct session *s = allocate(sizeof *s);
  const struct address a = read_url(plan->target);
  s->connection = mysql_init(NULL);
  if (!mysql_real_connect(s->connection, a.host, a.user, a.password, a.database, a.port, NULL, 0))
    fail("connect", mysql_error(s->connection));
  s->text = allocate((unsigned long)plan->batch * (2 * NUMBER_LENGTH + sizeof PAYLOAD + 16) + 512);
  run_text(s, TASKS);
  run_text(s, LEASES);
  /* Otherwise each UPDATE by numbers locks the gaps between them, and the threads wait for each other. */
  run_text(s, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  return s;
}

static void close_session(void *session) {
  struct session *s = session;
  mysql_close(s->connection);
  mysql_thread_end();
  free(s->text);
  free(s);
}

static void clear(void *session) {
  run_text(session, "TRUNCATE limit_task");
  run_text(session, "TRUNCATE limit_lease");
}

static void settle(void *session) {
  run_text(session, "ANALYZE TABLE limit_task");
}

static long insert(void *session, long first, int count) {
  struct session *s = session;
  char *end = s->text + sprintf(s->text, "INSERT INTO limit_task (id, state, due_ms, kind, payload) VALUES ");
  for (long id = first; id < first + count; id++)
    end += sprintf(end, "%s(%ld,0,%ld,1,'%s')", id == first ? "" : ",", id, id, PAYLOAD);
  return run(s, s->text, (size_t)(end - s->text));
}

static long load(void *session, long due, int count) {
  struct session *s = session;
  const int length = sprintf(s->text,
                             "SELECT id, due_ms, version, kind, payload FROM limit_task FORCE INDEX (due)"
                             " WHERE state = 0 AND due_ms >= %ld ORDER BY due_ms LIMIT %d",
                             due, count);
  return run(s, s->text, (size_t)length);
}

/* Runs `statement` followed by the list of the numbers. */
static long change(struct session *s, const char *statement, long first, int count) {
  char *end = s->text + sprintf(s->text, "%s id IN (", statement);
  end = append_numbers(end, first, count);
  *end++ = ')';
  return run(s, s->text, (size_t)(end - s->text));
}

static long claim(void *session, long first, int count) {
  return change(session,
                "UPDATE limit_task SET state = 1, owner = 7, version = version + 1, attempts = attempts + 1, lease_ms = 5000"
                " WHERE state = 0 AND",
                first, count);
}

static long lease(void *session, long first, int count) {
  struct session *s = session;
  return run(s, s->text, (size_t)sprintf(s->text, "INSERT INTO limit_lease VALUES (%ld, %d, 7, 5000)", first, count));
}

static long retry(void *session, long first, int count) {
  char statement[160];
  snprintf(statement, sizeof statement,
           "UPDATE limit_task SET state = 0, owner = 0, version = version + 1, due_ms = due_ms + %ld WHERE owner = 7 AND", RETRY_LATER);
  return change(session, statement, first, count);
}

static long finish(void *session, long first, int count) {
  return change(session, "DELETE FROM limit_task WHERE owner = 7 AND", first, count);
}

static long finish_leased(void *session, long first, int count) {
  struct session *s = session;
  run_text(s, "START TRANSACTION");
  const int length = sprintf(s->text, "DELETE FROM limit_lease WHERE first = %ld AND owner = 7", first);
  if (run(s, s->text, (size_t)length) != 1) fail("finish", "the lease is not held");
  const long rows = change(s, "DELETE FROM limit_task WHERE", first, count);
  run_text(s, "COMMIT");
  return rows;
}

int main(int argc, char **argv) {
  const struct verbs verbs = {"mariadb", 64, open_session, close_session, clear, settle,
                              insert, load, claim, lease, retry, finish, finish_leased};
  mysql_library_init(0, NULL, NULL);
  const int code = run_limits(argc, argv, &verbs);
  mysql_library_end();
  return code;
}
