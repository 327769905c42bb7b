// Races on real threads. The clock stands still in all of them, so nothing but the order of calls decides.

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "conformance/store_conformance.h"
#include "support/together.h"

namespace easyretry::test {
namespace {

constexpr int kThreads = 4;

// Every thread in an order of its own, so that they meet on all tasks and not only on the first.
template <class T>
std::vector<T> shuffled(std::vector<T> items, int thread) {
  std::shuffle(items.begin(), items.end(), std::mt19937{static_cast<unsigned>(thread)});
  return items;
}

std::map<TaskId, int> times_won(const std::vector<std::vector<TaskId>>& by_thread) {
  std::map<TaskId, int> times;
  for (const auto& won : by_thread) {
    for (const TaskId id : won) ++times[id];
  }
  return times;
}

TEST_P(StoreConformance, ClaimGivesEachTaskToExactlyOneClaimer) {
  const auto free = tickets(insert_many(240, a_task()));
  const auto won = together(kThreads, [&](int thread) {
    const auto mine = shuffled(free, thread);
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < mine.size(); i += 8) {  // batches that overlap with those of all other threads
      const std::span<const Ticket> batch{&mine[i], 8};
      for (const TaskRecord& task : must(store().claim({.tickets = batch, .owner = "w", .lease = kLease})).won) {
        ids.push_back(task.info.id);
      }
    }
    return ids;
  });

  const auto times = times_won(won);
  EXPECT_EQ(times.size(), free.size());
  for (const auto& [id, count] : times) EXPECT_EQ(count, 1);
  for (const TaskRecord& task : must(store().list({.limit = 1000}))) EXPECT_EQ(task.info.deliveries, 1);
}

TEST_P(StoreConformance, AnAbandonedTaskIsRescuedByExactlyOne) {
  const auto abandoned = tickets(claim_all(insert_many(60, a_task())));
  clock().advance(kLease);
  const auto won = together(kThreads, [&](int thread) {
    std::vector<TaskId> ids;
    for (const Ticket& ticket : shuffled(abandoned, thread)) {
      if (const auto task = try_claim(ticket, "rescuer")) ids.push_back(task->info.id);
    }
    return ids;
  });

  const auto times = times_won(won);
  EXPECT_EQ(times.size(), abandoned.size());
  for (const auto& [id, count] : times) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ(record(id).info.crashes, 1);
  }
}

// The answer that each thread got for each key.
using Answers = std::vector<std::map<std::string, Inserted>>;

void expect_one_task_a_key(const std::vector<NewTask>& tasks, const Answers& by_thread) {
  for (const NewTask& task : tasks) {
    int created = 0;
    for (const auto& answers : by_thread) {
      created += answers.at(task.key).created ? 1 : 0;
      EXPECT_EQ(answers.at(task.key).id, by_thread[0].at(task.key).id);
    }
    EXPECT_EQ(created, 1);
  }
}

TEST_P(StoreConformance, ConcurrentInsertsOfOneKeyCreateOneTask) {
  std::vector<NewTask> tasks;
  for (int i = 0; i < 40; ++i) tasks.push_back(a_task());
  const Answers answers = together(kThreads, [&](int thread) {
    std::map<std::string, Inserted> by_key;
    for (const NewTask& task : shuffled(tasks, thread)) by_key[task.key] = put(task);
    return by_key;
  });

  expect_one_task_a_key(tasks, answers);
  EXPECT_EQ(count({}), 40);
}

TEST_P(StoreConformance, ConcurrentLargeBatchesOfTheSameKeysCreateEachTaskOnce) {
  std::vector<NewTask> tasks;
  for (int i = 0; i < 300; ++i) tasks.push_back(a_task());
  const Answers answers = together(kThreads, [&](int thread) {
    const std::vector<NewTask> mine = shuffled(tasks, thread);
    const auto inserted = must(store().insert(mine)).tasks;
    std::map<std::string, Inserted> by_key;
    for (std::size_t i = 0; i < mine.size(); ++i) by_key[mine[i].key] = inserted[i];
    return by_key;
  });

  expect_one_task_a_key(tasks, answers);
  EXPECT_EQ(count({}), 300);
}

TEST_P(StoreConformance, ConcurrentInsertsGiveNoIdTwice) {
  start({.total_shards = 1});
  together(kThreads, [&](int) { return insert_many(200, a_task()).size(); });
  EXPECT_EQ(count({}), kThreads * 200);
}

TEST_P(StoreConformance, ConcurrentRequeuesStartOneGeneration) {
  const auto ended = finished(a_task());
  const auto started = together(kThreads, [&](int) { return requeue(ended.info.id); });
  EXPECT_EQ(std::count_if(started.begin(), started.end(), [](const auto& id) { return id.has_value(); }), 1);
  EXPECT_EQ(count({}), 1);
}

// The key is no longer live when the others come: only the mark keeps them from starting it.
TEST_P(StoreConformance, ConcurrentRequeuesStartEachTaskOnceAlsoIfItEndsMeanwhile) {
  std::vector<TaskId> ended;
  for (const TaskRecord& task : claim_all(insert_many(20, a_task()))) {
    settle(finish(task, Outcome::exhausted));
    ended.push_back(task.info.id);
  }
  const auto started = together(kThreads, [&](int) {
    int count = 0;
    for (const TaskId id : ended) {
      const auto fresh = requeue(id);
      if (!fresh) continue;
      settle(finish(claim(record(*fresh))));
      ++count;
    }
    return count;
  });
  EXPECT_EQ(std::accumulate(started.begin(), started.end(), 0), 20);
  EXPECT_EQ(count({.finished = true, .requeued = true}), 40);
}

// The worker finishes late, a rescuer takes the task and rejects it, and the user cancels it: one of them ends it.
TEST_P(StoreConformance, AFinisherARescuerAndACancelHaveOneWinner) {
  constexpr std::array kEndings{Outcome::succeeded, Outcome::rejected, Outcome::cancelled};
  const auto held = claim_all(insert_many(60, a_task()));
  clock().advance(kLease);
  const auto ended = together(3, [&](int who) {
    std::vector<bool> won;
    for (const TaskRecord& task : held) {
      if (who == 0) won.push_back(settle(finish(task, kEndings[0])));
      if (who == 1) {
        const auto rescued = try_claim(ticket(task), "rescuer");
        won.push_back(rescued && settle(finish(*rescued, kEndings[1])));
      }
      if (who == 2) won.push_back(cancel(task.info.id));
    }
    return won;
  });

  for (std::size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(ended[0][i] + ended[1][i] + ended[2][i], 1);
    for (std::size_t who = 0; who < kEndings.size(); ++who) {
      if (ended[who][i]) {
        EXPECT_EQ(again(held[i]).info.outcome, kEndings[who]);
      }
    }
  }
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({.finished = true}), 60);
}

TEST_P(StoreConformance, AClaimerAndACancelLeaveNoTaskBehind) {
  const auto free = insert_many(60, a_task());
  const auto ended = together(2, [&](int who) {
    std::vector<bool> won;
    for (const TaskRecord& task : free) {
      const auto claimed = who == 0 ? try_claim(ticket(task)) : std::nullopt;
      won.push_back(who == 0 ? claimed && settle(finish(*claimed)) : cancel(task.info.id));
    }
    return won;
  });
  for (std::size_t i = 0; i < free.size(); ++i) {
    EXPECT_NE(ended[0][i], ended[1][i]);
    EXPECT_EQ(again(free[i]).info.outcome, ended[0][i] ? Outcome::succeeded : Outcome::cancelled);
  }
}

TEST_P(StoreConformance, ARenewalAndARescueHaveOneWinner) {
  const auto held = claim_all(insert_many(60, a_task()));
  clock().advance(kLease);
  const auto got = together(2, [&](int who) {
    std::vector<bool> won;
    for (const TaskRecord& task : held) {
      won.push_back(who == 0 ? renew(task, kLease) : try_claim(ticket(task), "rescuer").has_value());
    }
    return won;
  });
  for (std::size_t i = 0; i < held.size(); ++i) {
    EXPECT_NE(got[0][i], got[1][i]);
    EXPECT_EQ(again(held[i]).locked_by, got[0][i] ? "worker" : "rescuer");
  }
}

// Each of the workers loads, claims and settles what it can, and every task fails twice before it succeeds.
TEST_P(StoreConformance, WorkersThatShareEverythingRunEachAttemptOnce) {
  start({.total_shards = 4});
  insert_many(100, a_task());
  const auto runs = together(kThreads, [&](int) {
    int executions = 0;
    while (count({}) > 0) {
      std::vector<Ticket> due;
      for (const auto& task : load(every_shard(), 0ms, 5).tasks) due.push_back(task);
      std::vector<Settlement> done;
      for (const TaskRecord& task : must(store().claim({.tickets = due, .owner = "w", .lease = kLease})).won) {
        done.push_back(task.info.attempts < 3 ? retry(task, 0ms) : finish(task));
        ++executions;
      }
      for (const bool applied : must(store().settle(done)).applied) {
        if (!applied) throw std::logic_error("a worker lost a task it held");
      }
    }
    return executions;
  });
  int executions = 0;
  for (const int run : runs) executions += run;
  EXPECT_EQ(executions, 300);
  for (const TaskRecord& task : must(store().list({.finished = true, .limit = 1000}))) {
    EXPECT_EQ(task.info.attempts, 3);
    EXPECT_EQ(task.info.deliveries, 3);
  }
}

}  // namespace
}  // namespace easyretry::test
