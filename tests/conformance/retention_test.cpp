// Handlers whose ended tasks are kept for a shorter time than the store keeps all of them.

#include "storage/retention.h"

#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

using storage::Retention;

constexpr Millis kDay = 24h;
// The sweep leaves out what has ended in the last half minute.
constexpr Millis kMoment = 1min;

Retention keep(std::string handler, Millis time) {
  return {.name_space = std::string{kNamespace}, .handler = std::move(handler), .keep = time};
}
Retention keep_args(std::string handler, Millis time) {
  return {.name_space = std::string{kNamespace}, .handler = std::move(handler), .keep_args = time};
}

void sweep(storage::Store& store, const std::vector<Retention>& rules) {
  while (must(store.expire(rules))) {
  }
}

const TaskQuery kHistory{.finished = true, .requeued = true, .limit = 100'000};

TaskBuilder task_of(std::string handler) {
  return a_task().handler(std::move(handler));
}

// Tasks of the handler pay that have, among them, everything that a task can have.
std::vector<NewTask> all_kinds(TimePoint now) {
  NewTask plain = task_of("pay");
  NewTask rich = task_of("pay").business("order", "42");
  rich.tags = {"a", "b"};
  rich.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  NewTask ruled = task_of("pay").payload_version(300);
  ruled.rules = {
      .max_attempts = 500, .max_duration = 90 * kDay, .deadline = now + 90 * kDay, .backoff = "fixed delay=1s"};
  NewTask derived = task_of("pay").key("pay:0123456789abcdef0123456789abcdef");
  NewTask unruled = task_of("pay").payload(std::string(300, 'x'));
  unruled.rules.backoff.clear();
  return {plain, rich, ruled, derived, unruled};
}

TEST_P(StoreConformance, ATaskThatIsNotKeptLeavesNoHistory) {
  const auto ended = [&](Outcome outcome) {
    Settlement settlement = finish(running(a_task().key("k-" + std::string{to_string(outcome)})), outcome);
    settlement.keep = false;
    EXPECT_TRUE(settle(settlement));
    return settlement.ticket.id;
  };
  for (const Outcome outcome : {Outcome::succeeded, Outcome::exhausted, Outcome::rejected, Outcome::cancelled}) {
    EXPECT_FALSE(find(ended(outcome))) << to_string(outcome);
  }
  const TaskRecord kept = finished(a_task());
  EXPECT_TRUE(find(ended(Outcome::quarantined))) << "no owner was notified of it";
  EXPECT_TRUE(find(ended(Outcome::parked)));
  EXPECT_EQ(count({.finished = true}), 3);
  EXPECT_TRUE(find(kept.info.id));
  EXPECT_TRUE(put(a_task().key("k-succeeded")).created) << "its key is free";
  EXPECT_EQ(must(store().counts(kNamespace))["pay"].total.ended_in_all(), 7);
}

TEST_P(StoreConformance, AnEndedTaskGoesWhenItsHandlerDoesNotKeepItAnyLonger) {
  const TaskRecord pay = finished(task_of("pay"));
  const TaskRecord failed = finished(task_of("pay"), Outcome::exhausted);
  const TaskRecord mail = finished(task_of("mail"));
  const TaskRecord live = insert(a_task().handler("pay"));
  const TaskRecord held = running(a_task().handler("pay"));
  clock().advance(7 * kDay - kMoment);
  sweep(store(), {keep("pay", 7 * kDay)});
  EXPECT_THAT(list(kHistory), UnorderedElementsAre(pay.info.id, failed.info.id, mail.info.id));
  clock().advance(2 * kMoment);
  sweep(store(), {keep("pay", 7 * kDay)});
  EXPECT_THAT(list(kHistory), UnorderedElementsAre(mail.info.id));
  expect_same(again(live), live);
  expect_same(again(held), held);
}

TEST_P(StoreConformance, ASweepLeavesTheCountsAsTheyWere) {
  finished(task_of("pay"));
  finished(task_of("pay"), Outcome::rejected);
  const Counts before = must(store().counts(kNamespace));
  clock().advance(kMoment);
  sweep(store(), {keep("pay", 0ms)});
  EXPECT_THAT(list(kHistory), IsEmpty());
  const Counts after = must(store().counts(kNamespace));
  EXPECT_EQ(after, before);
}

TEST_P(StoreConformance, WithoutARuleNothingIsSwept) {
  finished(task_of("pay"));
  clock().advance(20 * kDay);
  EXPECT_FALSE(must(store().expire({})));
  EXPECT_THAT(list(kHistory), SizeIs(1));
}

TEST_P(StoreConformance, ASweepLeavesQuarantinedAndParkedTasksWithTheirArguments) {
  const TaskRecord quarantined = finished(task_of("pay"), Outcome::quarantined);
  const TaskRecord parked = finished(task_of("pay"), Outcome::parked);
  clock().advance(20 * kDay);
  sweep(store(), {keep("pay", 0ms)});
  sweep(store(), {keep_args("pay", 0ms)});
  expect_same(again(quarantined), quarantined);
  EXPECT_TRUE(requeue(parked.info.id));
}

TEST_P(StoreConformance, ASweepLeavesOtherNamespacesAlone) {
  const TaskRecord other = finished(a_task().name_space("other").handler("pay"));
  finished(task_of("pay"));
  clock().advance(kDay);
  sweep(store(), {keep("pay", 1h)});
  EXPECT_THAT(list(kHistory), ElementsAre(other.info.id));
}

TEST_P(StoreConformance, RulesOfRetentionMayChangeAtAnyTime) {
  finished(task_of("pay"));
  const TaskRecord mail = finished(task_of("mail"));
  clock().advance(2 * kDay);
  const TaskRecord second = finished(task_of("pay"));
  clock().advance(2 * kDay);
  sweep(store(), {keep("pay", 3 * kDay)});
  EXPECT_THAT(list(kHistory), UnorderedElementsAre(mail.info.id, second.info.id));
  sweep(store(), {keep("pay", 30 * kDay)});
  EXPECT_THAT(list(kHistory), UnorderedElementsAre(mail.info.id, second.info.id)) << "kept for longer from now on";
  sweep(store(), {keep("pay", 1h), keep("mail", 3 * kDay)});
  EXPECT_THAT(list(kHistory), IsEmpty()) << "a new rule also holds for what ended before it";
}

TEST_P(StoreConformance, HandlersAreKeptForDifferentTimes) {
  finished(task_of("a"));
  const TaskRecord b = finished(task_of("b"));
  finished(task_of("c"));
  const std::vector<Retention> rules{keep("a", 1h), keep("b", 2 * kDay), keep("c", 1h)};
  clock().advance(kDay);
  sweep(store(), rules);
  EXPECT_THAT(list(kHistory), ElementsAre(b.info.id));
  finished(task_of("a"));
  clock().advance(kDay + kMoment);
  sweep(store(), rules);
  EXPECT_THAT(list(kHistory), IsEmpty());
}

TEST_P(StoreConformance, SweepsReachAcrossMonths) {
  std::vector<TaskRecord> tasks;
  for (int month = 0; month < 3; ++month) {
    tasks.push_back(finished(task_of("pay")));
    finished(task_of("mail"));
    clock().advance(31 * kDay);
  }
  sweep(store(), {keep("pay", 50 * kDay)});
  EXPECT_THAT(list({.finished = true, .handler = "pay"}), ElementsAre(tasks[2].info.id));
  EXPECT_EQ(count({.finished = true, .handler = "mail"}), 3);
}

TEST_P(StoreConformance, ATaskThatTookLongIsKeptFromItsEnd) {
  const TaskRecord slow = insert(a_task().handler("pay").due_in(40 * kDay));
  clock().advance(40 * kDay);
  settle(finish(claim(slow)));
  clock().advance(6 * kDay);
  sweep(store(), {keep("pay", 7 * kDay)});
  EXPECT_TRUE(find(slow.info.id));
  clock().advance(kDay + kMoment);
  sweep(store(), {keep("pay", 7 * kDay)});
  EXPECT_FALSE(find(slow.info.id));
}

// More than a transaction takes, and more than that in one millisecond.
TEST_P(StoreConformance, ThousandsAreSweptInSeveralSteps) {
  const auto end_many = [&](const std::string& handler, int many) {
    for (; many > 0; many -= 500) {
      std::vector<Settlement> settlements;
      for (const TaskRecord& task : claim_all(insert_many(500, a_task().handler(handler)))) {
        settlements.push_back(finish(task));
      }
      must(store().settle(settlements));
    }
  };
  end_many("pay", 1500);
  clock().advance(1s);
  end_many("mail", 500);
  end_many("pay", 500);
  clock().advance(kDay);
  sweep(store(), {keep_args("pay", 2h)});
  sweep(store(), {keep("pay", 1h)});
  EXPECT_EQ(count({.finished = true, .handler = "pay"}), 0);
  EXPECT_EQ(count({.finished = true, .handler = "mail"}), 500);
}

TEST_P(StoreConformance, ASweptTaskIsFoundByNothing) {
  const TaskRecord task = finished(a_task().handler("pay").key("pay:42").business("order", "42"));
  const TaskRecord fresh = record(requeue(task.info.id).value());
  clock().advance(kDay);
  sweep(store(), {keep("pay", 1h)});
  EXPECT_THAT(list({.finished = true, .key = "pay:42", .requeued = true}), IsEmpty());
  EXPECT_THAT(list({.finished = true, .business_id = "42", .requeued = true}), IsEmpty());
  EXPECT_FALSE(requeue(task.info.id));
  EXPECT_THAT(list({.key = "pay:42"}), ElementsAre(fresh.info.id)) << "the task that it was requeued as stays";
  EXPECT_THAT(list({.business_id = "42"}), ElementsAre(fresh.info.id));
}

TEST_P(StoreConformance, ArgumentsAloneGoAndTheRestStays) {
  std::vector<TaskRecord> tasks;
  for (const NewTask& task : all_kinds(now())) tasks.push_back(finished(task));
  const TaskRecord again_held = claim(record(requeue(tasks[1].info.id).value()));
  settle(finish(again_held));
  tasks.push_back(again(again_held));
  tasks[1] = again(tasks[1]);
  const TaskRecord mail = finished(task_of("mail"));
  clock().advance(kDay);
  sweep(store(), {keep_args("pay", 1h)});
  for (TaskRecord& task : tasks) {
    EXPECT_FALSE(task.payload.empty());
    task.payload.clear();
    expect_same(again(task), task);
  }
  expect_same(again(mail), mail);
  EXPECT_FALSE(again(mail).payload.empty());
}

TEST_P(StoreConformance, WithoutArgumentsATaskCannotBeRequeued) {
  const TaskRecord task = finished(task_of("pay"), Outcome::exhausted);
  clock().advance(kDay);
  sweep(store(), {keep_args("pay", 1h)});
  EXPECT_TRUE(storage::lacks_arguments(again(task)));
  EXPECT_FALSE(requeue(task.info.id));
  EXPECT_EQ(count({}), 0);
  const auto fresh = must(store().requeue_with(task.info.id, "[7]"));
  ASSERT_TRUE(fresh) << "but with other arguments it can";
  EXPECT_EQ(record(*fresh).payload, "[7]");
}

TEST_P(StoreConformance, ArgumentsGoFirstAndTheTaskLater) {
  Retention rule = keep("pay", 7 * kDay);
  rule.keep_args = kDay;
  const TaskRecord task = finished(task_of("pay"));
  clock().advance(2 * kDay);
  sweep(store(), {rule});
  EXPECT_TRUE(storage::lacks_arguments(again(task)));
  clock().advance(6 * kDay);
  sweep(store(), {rule});
  EXPECT_FALSE(find(task.info.id));
}

}  // namespace
}  // namespace easyretry::test
