#include "limits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void batch_work(const struct verbs *verbs, void *session, long first, int count);

struct phase {
  const struct plan *plan;
  const struct verbs *verbs;
  batch_work *work;
  pthread_barrier_t begin;
};

struct slice {
  struct phase *phase;
  long first, last;
};

void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why ? why : "no reason given");
  exit(1);
}

void *allocate(unsigned long bytes) {
  void *memory = calloc(1, bytes);
  if (!memory) fail("memory", "none left");
  return memory;
}

char *append_numbers(char *to, long first, int count) {
  for (int i = 0; i < count; i++) to += sprintf(to, i ? ",%ld" : "%ld", first + i);
  return to;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A verb that misses tasks would make the limit too high, so it is no figure at all. */
static void expect(const char *verb, long found, int wanted) {
  if (found == wanted) return;
  fprintf(stderr, "%s: found %ld of %d tasks\n", verb, found, wanted);
  exit(1);
}

static void enqueue(const struct verbs *verbs, void *session, long first, int count) {
  expect("insert", verbs->insert(session, first, count), count);
}

static void drain(const struct verbs *verbs, void *session, long first, int count) {
  expect("load", verbs->load(session, first, count), count);
  expect("claim", verbs->claim(session, first, count), count);
  expect("finish", verbs->finish(session, first, count), count);
}

static void drain_leased(const struct verbs *verbs, void *session, long first, int count) {
  expect("load", verbs->load(session, first, count), count);
  expect("lease", verbs->lease(session, first, count), 1);
  expect("finish", verbs->finish_leased(session, first, count), count);
}

static void fail_once(const struct verbs *verbs, void *session, long first, int count) {
  expect("load", verbs->load(session, first, count), count);
  expect("claim", verbs->claim(session, first, count), count);
  expect("retry", verbs->retry(session, first, count), count);
  expect("second load", verbs->load(session, first + RETRY_LATER, count), count);
  expect("second claim", verbs->claim(session, first, count), count);
  expect("finish", verbs->finish(session, first, count), count);
}

static void *run_slice(void *argument) {
  const struct slice *slice = argument;
  struct phase *phase = slice->phase;
  void *session = phase->verbs->open(phase->plan);
  pthread_barrier_wait(&phase->begin);
  for (long first = slice->first; first <= slice->last; first += phase->plan->batch) {
    const long left = slice->last - first + 1;
    phase->work(phase->verbs, session, first, (int)(left < phase->plan->batch ? left : phase->plan->batch));
  }
  phase->verbs->close(session);
  return NULL;
}

/* Tasks per second. Sessions are opened before the clock starts. */
static double rate(const struct plan *plan, const struct verbs *verbs, batch_work *work) {
  struct phase phase = {.plan = plan, .verbs = verbs, .work = work};
  struct slice *slices = allocate(sizeof *slices * (unsigned long)plan->threads);
  pthread_t *threads = allocate(sizeof *threads * (unsigned long)plan->threads);
  pthread_barrier_init(&phase.begin, NULL, (unsigned)plan->threads + 1);
  for (int i = 0; i < plan->threads; i++) {
    slices[i] = (struct slice){&phase, plan->tasks * i / plan->threads + 1, plan->tasks * (i + 1) / plan->threads};
    if (pthread_create(&threads[i], NULL, run_slice, &slices[i])) fail("thread", "cannot be started");
  }
  pthread_barrier_wait(&phase.begin);
  const double began = seconds();
  for (int i = 0; i < plan->threads; i++) pthread_join(threads[i], NULL);
  const double took = seconds() - began;
  pthread_barrier_destroy(&phase.begin);
  free(slices);
  free(threads);
  return (double)plan->tasks / took;
}

static double rate_with_tasks(const struct plan *plan, const struct verbs *verbs, batch_work *work) {
  void *session = verbs->open(plan);
  verbs->clear(session);
  rate(plan, verbs, enqueue);
  verbs->settle(session);
  verbs->close(session);
  return rate(plan, verbs, work);
}

static long number(const char *text, long most, const char *what) {
  char *end = NULL;
  const long value = strtol(text, &end, 10);
  if (end == text || *end || value < 1 || value > most) {
    fprintf(stderr, "%s must be a number from 1 to %ld, not %s\n", what, most, text);
    exit(2);
  }
  return value;
}

int run_limits(int argc, char **argv, const struct verbs *verbs) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s TARGET TASKS BATCH THREADS\n", argv[0]);
    return 2;
  }
  const struct plan plan = {.target = argv[1],
                            .tasks = number(argv[2], 100000000, "TASKS"),
                            .batch = (int)number(argv[3], 10000, "BATCH"),
                            .threads = (int)number(argv[4], verbs->most_threads, "THREADS")};
  void *session = verbs->open(&plan);
  verbs->clear(session);
  const double enqueued = rate(&plan, verbs, enqueue);
  const double drained = rate_with_tasks(&plan, verbs, drain);
  const double leased = rate_with_tasks(&plan, verbs, drain_leased);
  const double cycled = rate_with_tasks(&plan, verbs, fail_once);
  verbs->clear(session);
  verbs->close(session);
  printf("{\"server\":\"%s\",\"tasks\":%ld,\"batch\":%d,\"threads\":%d,\"enqueue_per_s\":%.0f,\"drain_per_s\":%.0f,"
         "\"drain_leased_per_s\":%.0f,\"cycle_per_s\":%.0f}\n",
         verbs->server, plan.tasks, plan.batch, plan.threads, enqueued, drained, leased, cycled);
  return 0;
}
