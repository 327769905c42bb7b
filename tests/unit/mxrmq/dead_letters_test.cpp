// Dead letters, which an import moves on request.

#include "mxrmq/import_target.h"
#include "unit/mxrmq/import_support.h"

namespace easyretry::mxrmq {
namespace {

class DeadLetters : public AnImport {
 protected:
  MovedLetters moved() { return imported({.dead_letters = true}).letters; }
  std::vector<task::TaskRecord> ended() { return store->list({.name_space = "default", .finished = true}).value(); }
  void letter(const std::string& id, const std::string& json) {
    run({"HSET", "shop:dlq:data", id, json, id + ":queue", "shop:orders"});
    run({"LPUSH", "shop:dlq", id});
  }
  void letter(const std::string& id) {
    letter(id, to_json(with(id, [](Meta& meta) {
             meta.status = Status::dead_letter;
             meta.retry_count = 3;
             meta.max_retries = 3;
             meta.last_error = "card refused";
             meta.dead_letter_at = 1'773'144'000'000;
           })));
  }
  task::NewTask task(const std::string& key) {
    task::NewTask task;
    task.name_space = "default";
    task.key = key;
    task.handler = "orders";
    task.payload = R"([{"n":1}])";
    return task;
  }
};

TEST_F(DeadLetters, BecomeTasksWithAFinalFailureAndDoNotRun) {
  letter("m1");
  EXPECT_EQ(moved().moved, 1);
  EXPECT_THAT(tasks(), IsEmpty());
  const auto all = ended();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].info.key, "m1");
  EXPECT_EQ(all[0].info.handler, "orders");
  EXPECT_EQ(all[0].info.outcome, Outcome::exhausted);
  EXPECT_EQ(all[0].info.attempts, 3);
  EXPECT_EQ(all[0].info.last_error, "card refused (dead letter since 2026-03-10T12:00:00.000Z)");
  expect_nothing_left();
}

TEST_F(DeadLetters, StartAgainAtOnceWithAllTheirAttemptsWhenTheyAreRequeued) {
  letter("m1");
  moved();
  const TaskId id = ended().at(0).info.id;
  ASSERT_TRUE(store->requeue({&id, 1}).value().at(0));
  const task::TaskRecord again = tasks().at(0);
  EXPECT_EQ(again.payload, R"([{"n":1}])");
  EXPECT_EQ(again.info.attempts, 0);
  EXPECT_EQ(again.rules.max_attempts, 3);
  EXPECT_LE(again.info.next_at, system_clock().now());
}

TEST_F(DeadLetters, StayIfTheyCannotBeReadOrTheirKeyBelongsToALiveTask) {
  const task::NewTask live = task("m7");
  ASSERT_TRUE(store->insert({&live, 1}));
  for (int i = 0; i < 250; ++i) letter("m" + std::to_string(i));
  letter("bad", "{broken");
  const MovedLetters sum = moved();
  EXPECT_EQ(sum.moved, 249);
  EXPECT_EQ(sum.left, 2);
  EXPECT_THAT(list("dlq"), ElementsAre("bad", "m7"));
  EXPECT_THAT(tasks(), SizeIs(1));
  EXPECT_EQ(store->count({.name_space = "default", .finished = true}).value(), 249);
  EXPECT_EQ(number({"EXISTS", "shop:cxx:letters"}), 0);
}

TEST_F(DeadLetters, AreMovedOnceAndIdsWithoutALetterAreRemoved) {
  for (int i = 0; i < 150; ++i) run({"LPUSH", "shop:dlq", "nothing"});
  letter("m1");
  run({"LPUSH", "shop:dlq", "m1"});
  for (int i = 0; i < 150; ++i) run({"LPUSH", "shop:dlq", "nothing"});
  run({"LPUSH", "shop:dlq", "m1"});
  EXPECT_EQ(moved().moved, 1);
  EXPECT_THAT(ended(), SizeIs(1));
  expect_nothing_left();
}

TEST_F(DeadLetters, StayIfTheStoreKeepsNoHistory) {
  store = storage::open_store(folder.sqlite_url("forgetful.db") + "?history=none", system_clock());
  letter("m1");
  try {
    moved();
    FAIL() << "moved";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.error().code, Errc::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("history=none"));
  }
  EXPECT_THAT(list("dlq"), ElementsAre("m1"));

  store = storage::open_store(folder.sqlite_url("better.db") + "?history=failures", system_clock());
  EXPECT_EQ(moved().moved, 1) << "and are moved to a better one";
  EXPECT_THAT(ended(), SizeIs(1));
}

// Interrupted after each of its steps.
class AnInterruptedMoveOfLetters : public DeadLetters {
 protected:
  void take() { link.run(scripts::letters, "", {"0", "100"}); }
  task::Ticket store_as_running() {
    task::NewTask running = task("m1");
    running.attempts = 2;
    running.owner = "import-killed";
    running.lease = 5min;
    running.due_at = TimePoint{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};
    const auto stored = store->insert({&running, 1}).value().tasks.at(0);
    return {stored.id, stored.version};
  }
  void end(const task::Ticket& ticket) {
    task::Settlement end;
    end.ticket = ticket;
    end.outcome = Outcome::exhausted;
    ASSERT_TRUE(store->settle({&end, 1}).value().applied.at(0));
  }
  void expect_to_be_moved_once() {
    EXPECT_EQ(moved().moved, 1);
    EXPECT_THAT(ended(), SizeIs(1));
    EXPECT_THAT(tasks(), IsEmpty());
    expect_nothing_left();
  }
};

TEST_F(AnInterruptedMoveOfLetters, ContinuesBeforeTheStoreHasTheTask) {
  letter("m1");
  take();
  expect_to_be_moved_once();
}

TEST_F(AnInterruptedMoveOfLetters, ContinuesIfTheTaskIsNotEndedYetAndNoInstanceRunsIt) {
  letter("m1");
  take();
  const task::Ticket ticket = store_as_running();
  EXPECT_THAT(store->claim({{&ticket, 1}, "worker", 30s}).value().won, IsEmpty());
  expect_to_be_moved_once();
  EXPECT_EQ(ended().at(0).info.attempts, 3);
}

TEST_F(AnInterruptedMoveOfLetters, ContinuesIfTheQueueStillHasTheLetter) {
  letter("m1");
  take();
  end(store_as_running());
  expect_to_be_moved_once();
}

}  // namespace
}  // namespace easyretry::mxrmq
