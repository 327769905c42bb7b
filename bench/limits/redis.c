/* limit_redis redis://HOST:PORT TASKS BATCH THREADS: the limits of a Redis server. A script per batch moves its tasks between a hash of
 * payloads, a sorted set of due times and a sorted set of leases, with commands that take many members. Whether an answer means
 * "on disk" is decided by the server's appendfsync. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

#define MOST_MEMBERS "3000" /* of one command: Lua's stack holds 8,000 values */

enum script { INSERT, LOAD, CLAIM, LEASE, RETRY, FINISH, FINISH_LEASED, SCRIPTS };

/* KEYS: payloads, due, running, leases. ARGV of most: the tasks' numbers. `many` calls a command for all of them, in parts, and
 * counts the members that it added or removed. */
#define MANY \
  "local function many(command, key, add) local part, changed = {}, 0 " \
  "for i = 1, #ARGV do add(part, ARGV[i]) " \
  "if #part >= " MOST_MEMBERS " or i == #ARGV then changed = changed + redis.call(command, key, unpack(part)) part = {} end end " \
  "return changed end " \
  "local function id(p, n) p[#p + 1] = n end "

static const char *TEXTS[SCRIPTS] = {
    [INSERT] = MANY "many('HSET', KEYS[1], function(p, n) p[#p + 1] = n p[#p + 1] = '" PAYLOAD "' end) "
                    "return many('ZADD', KEYS[2], function(p, n) p[#p + 1] = n p[#p + 1] = n end)",
    [LOAD] = "local ids = redis.call('ZRANGE', KEYS[2], ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2]) local found = {} "
             "for i = 1, #ids, " MOST_MEMBERS " do "
             "for _, v in ipairs(redis.call('HMGET', KEYS[1], unpack(ids, i, math.min(#ids, i + " MOST_MEMBERS " - 1)))) do "
             "found[#found + 1] = v end end return found",
    [CLAIM] = MANY "many('ZREM', KEYS[2], id) return many('ZADD', KEYS[3], function(p, n) p[#p + 1] = 5000 p[#p + 1] = n end)",
    [LEASE] = "return redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])",
    [RETRY] = MANY "many('ZREM', KEYS[3], id) "
                   "return many('ZADD', KEYS[2], function(p, n) p[#p + 1] = n + 1000000000 p[#p + 1] = n end)",
    [FINISH] = MANY "many('ZREM', KEYS[3], id) return many('HDEL', KEYS[1], id)",
    [FINISH_LEASED] = MANY "if redis.call('HDEL', KEYS[4], ARGV[1]) ~= 1 then return 0 end "
                           "many('ZREM', KEYS[2], id) return many('HDEL', KEYS[1], id)",
};

struct session {
  redisContext *connection;
  char sha[SCRIPTS][64];
  const char **words;
  char *numbers;
};

static redisReply *checked(struct session *s, redisReply *reply, const char *what) {
  if (!reply) fail(what, s->connection->errstr);
  if (reply->type == REDIS_REPLY_ERROR) fail(what, reply->str);
  return reply;
}

static void *open_session(const struct plan *plan) {
  struct session *s = allocate(sizeof *s);
  char host[64];
  int port = 0;
  if (sscanf(plan->target, "redis://%63[^:]:%d", host, &port) != 2) fail(plan->target, "is no redis://HOST:PORT");
  s->connection = redisConnect(host, port);
  if (!s->connection || s->connection->err) fail("connect", s->connection ? s->connection->errstr : "no memory");
  for (int i = 0; i < SCRIPTS; i++) {
    redisReply *reply = checked(s, redisCommand(s->connection, "SCRIPT LOAD %s", TEXTS[i]), "SCRIPT LOAD");
    snprintf(s->sha[i], sizeof s->sha[i], "%s", reply->str);
    freeReplyObject(reply);
  }
  s->words = allocate(sizeof *s->words * (unsigned long)(plan->batch + 9));
  s->numbers = allocate((unsigned long)plan->batch * NUMBER_LENGTH);
  return s;
}

static void close_session(void *session) {
  struct session *s = session;
  redisFree(s->connection);
  free(s->words);
  free(s->numbers);
  free(s);
}

static void clear(void *session) {
  struct session *s = session;
  freeReplyObject(checked(s, redisCommand(s->connection, "DEL {t}:payload {t}:due {t}:running {t}:lease"), "DEL"));
}

static void settle(void *session) {
  (void)session; /* there are no statistics */
}

/* Runs a script with `count` words after its keys; s->words has room for seven before them. Rows: a number, or an array's length. */
static long call(struct session *s, enum script script, int count) {
  const char *keys[] = {"EVALSHA", s->sha[script], "4", "{t}:payload", "{t}:due", "{t}:running", "{t}:lease"};
  memcpy(s->words, keys, sizeof keys);
  redisReply *reply = checked(s, redisCommandArgv(s->connection, 7 + count, s->words, NULL), "EVALSHA");
  const long rows = reply->type == REDIS_REPLY_ARRAY ? (long)reply->elements : (long)reply->integer;
  freeReplyObject(reply);
  return rows;
}

static long call_for(struct session *s, enum script script, long first, int count) {
  for (int i = 0; i < count; i++) {
    char *number = s->numbers + (long)i * NUMBER_LENGTH;
    snprintf(number, NUMBER_LENGTH, "%ld", first + i);
    s->words[7 + i] = number;
  }
  return call(s, script, count);
}

static long call_with(struct session *s, enum script script, long first, int count) {
  char from[NUMBER_LENGTH], size[NUMBER_LENGTH];
  snprintf(from, sizeof from, "%ld", first);
  snprintf(size, sizeof size, "%d", count);
  s->words[7] = from;
  s->words[8] = size;
  return call(s, script, 2);
}

static long insert(void *session, long first, int count) {
  return call_for(session, INSERT, first, count);
}

static long load(void *session, long due, int count) {
  return call_with(session, LOAD, due, count);
}

static long claim(void *session, long first, int count) {
  return call_for(session, CLAIM, first, count);
}

static long lease(void *session, long first, int count) {
  return call_with(session, LEASE, first, count);
}

static long retry(void *session, long first, int count) {
  return call_for(session, RETRY, first, count);
}

static long finish(void *session, long first, int count) {
  return call_for(session, FINISH, first, count);
}

static long finish_leased(void *session, long first, int count) {
  return call_for(session, FINISH_LEASED, first, count);
}

int main(int argc, char **argv) {
  const struct verbs verbs = {"redis", 64, open_session, close_session, clear, settle,
                              insert, load, claim, lease, retry, finish, finish_leased};
  return run_limits(argc, argv, &verbs);
}
