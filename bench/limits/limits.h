/* What a server can do at best: bare statements on narrow rows, in batches, each batch durable before it counts.
 *
 * The programs share nothing with EasyRetry, so that they are a yardstick for it. Each implements the verbs below for
 * one server; run_limits() puts them into loops, on several threads with a session each, and prints the rates.
 *
 * Tasks have the numbers 1 to N. A task's number is also the time at which it is due.
 */
#pragma once

struct plan {
  const char* target; /* URL of the server, or file */
  long tasks;
  int batch;
  int threads;
};

/* Each verb handles `count` tasks beginning with `first`, commits, and returns how many tasks it found. A verb that
 * fails ends the program by fail(). */
struct verbs {
  const char* server;
  int most_threads;
  void* (*open)(const struct plan* plan);
  void (*close)(void* session);
  void (*clear)(void* session);  /* begin with an empty table */
  void (*settle)(void* session); /* bring statistics up to date; not timed */
  long (*insert)(void* session, long first, int count);
  long (*load)(void* session, long due, int count);    /* reads tasks that are due from `due` on, with their payload */
  long (*claim)(void* session, long first, int count); /* writes to each task that it is taken */
  long (*lease)(void* session, long first, int count); /* writes one row which says that the tasks are taken */
  long (*retry)(void* session, long first, int count); /* due again, RETRY_LATER later */
  long (*finish)(void* session, long first, int count);
  long (*finish_leased)(void* session, long first, int count); /* tasks and their lease */
};

#define RETRY_LATER 1000000000L
#define PAYLOAD "{\"id\":1,\"to\":\"user@example.com\"}"

int run_limits(int argc, char** argv, const struct verbs* verbs);
void fail(const char* what, const char* why) __attribute__((noreturn));

/* Appends "first,first+1,…" to `to`, and returns the end. A number and its comma take at most NUMBER_LENGTH characters.
 */
#define NUMBER_LENGTH 21
char* append_numbers(char* to, long first, int count);
void* allocate(unsigned long bytes);
