// The class of a task: it is stored, read with the due tasks, and kept into history and beyond.

#include <map>

#include "conformance/store_conformance.h"
#include "storage/task_walk.h"

namespace easyretry::test {
namespace {

using enum TaskClass;

TEST_P(StoreConformance, ATaskKeepsItsClassUntilItIsInHistory) {
  for (const TaskClass task_class : {urgent, normal, background}) {
    const TaskRecord task = insert(a_task().of_class(task_class));
    EXPECT_EQ(task.info.task_class, task_class);
    const TaskRecord held = claim(task);
    EXPECT_EQ(held.info.task_class, task_class) << "an engine offers its retry without reading it again";
    EXPECT_TRUE(settle(retry(held, 0ms)));
    EXPECT_TRUE(settle(finish(claim(again(task)))));
    EXPECT_EQ(again(task).info.task_class, task_class);
    EXPECT_EQ(again(task).info.state, TaskState::finished);
  }
}

TEST_P(StoreConformance, ATaskEndedByAUserKeepsItsClass) {
  const TaskRecord task = insert(a_task().of_class(urgent));
  EXPECT_TRUE(cancel(task.info.id));
  EXPECT_EQ(again(task).info.task_class, urgent);
}

TEST_P(StoreConformance, ALoadTellsTheClassOfADueTask) {
  std::map<TaskId, TaskClass> stored;
  for (const TaskClass task_class : {urgent, normal, background, urgent}) {
    const TaskRecord task = insert(a_task().of_class(task_class));
    stored.emplace(task.info.id, task_class);
    if (stored.size() == 4) settle(retry(claim(task), 0ms));
  }
  const LoadReply reply = load(every_shard());
  std::map<TaskId, TaskClass> loaded;
  for (const auto& task : reply.tasks) {
    loaded.emplace(task.id, task.task_class);
    EXPECT_EQ(reply.handlers.at(task.handler), "pay");
  }
  EXPECT_EQ(loaded, stored);
  EXPECT_THAT(reply.handlers, SizeIs(1)) << "a handler is one, whatever the classes of its tasks";
}

TEST_P(StoreConformance, ARequeuedTaskHasItsClassOrAnother) {
  const auto requeued_as = [&](TaskClass of_ended, std::optional<TaskClass> as) {
    const TaskRecord ended = finished(a_task().of_class(of_ended));
    const TaskRecord fresh = record(must(store().requeue({&ended.info.id, 1}, as)).at(0).value());
    EXPECT_EQ(again(ended).info.task_class, of_ended) << "history says what ran";
    EXPECT_EQ(load_shard_of(fresh).tasks.at(0).task_class, fresh.info.task_class);
    EXPECT_TRUE(settle(finish(claim(fresh))));
    return fresh.info.task_class;
  };
  EXPECT_EQ(requeued_as(urgent, std::nullopt), urgent);
  EXPECT_EQ(requeued_as(urgent, background), background);
  EXPECT_EQ(requeued_as(background, normal), normal);
  EXPECT_EQ(requeued_as(normal, urgent), urgent);
  const TaskRecord ended = finished(a_task().of_class(urgent));
  const TaskRecord fresh = record(must(store().requeue_with(ended.info.id, "[43]", background)).value());
  EXPECT_EQ(fresh.info.task_class, background);
  EXPECT_EQ(fresh.payload, "[43]");
}

TEST_P(StoreConformance, TasksAreFoundByTheirClass) {
  std::map<TaskClass, TaskId> live;
  std::map<TaskClass, TaskId> ended;
  for (const TaskClass task_class : {urgent, normal, background}) {
    live[task_class] = insert(a_task().of_class(task_class)).info.id;
    ended[task_class] = finished(a_task().of_class(task_class)).info.id;
  }
  for (const TaskClass task_class : {urgent, normal, background}) {
    for (const bool finished : {false, true}) {
      const TaskQuery query{.name_space = kNamespace, .finished = finished, .task_class = task_class};
      const auto page = must(storage::list_page(store(), query, clock(), clock().steady() + 1h));
      EXPECT_THAT(ids_of(page.records), ElementsAre((finished ? ended : live)[task_class])) << to_string(task_class);
    }
  }
}

TEST_P(StoreConformance, TheTasksOfAllClassesAreCountedForTheirHandler) {
  for (const TaskClass task_class : {urgent, normal, background}) finished(a_task().of_class(task_class));
  const Counts counts = must(store().counts(kNamespace));
  EXPECT_EQ(counts.at("pay").total.stored, 3);
  EXPECT_EQ(counts.at("pay").total.ended_in_all(), 3);
  EXPECT_THAT(counts, SizeIs(1));
}

}  // namespace
}  // namespace easyretry::test
