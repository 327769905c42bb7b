#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, FindGivesLiveAndFinishedTasksAlike) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord held = running(a_task());
  const TaskRecord done = finished(a_task());
  const std::vector<TaskId> ids{done.info.id, pending.info.id, held.info.id};
  EXPECT_THAT(ids_of(must(store().find(ids))), UnorderedElementsAreArray(ids));
  EXPECT_EQ(record(pending.info.id).info.state, TaskState::pending);
  EXPECT_EQ(record(held.info.id).info.state, TaskState::running);
  EXPECT_EQ(record(done.info.id).info.state, TaskState::finished);
}

TEST_P(StoreConformance, FindLeavesOutUnknownIds) {
  const TaskRecord known = insert(a_task());
  const std::vector<TaskId> ids{kUnknown, known.info.id, TaskId{0}, TaskId{-1}};
  EXPECT_THAT(ids_of(must(store().find(ids))), ElementsAre(known.info.id));
}

TEST_P(StoreConformance, FindOfNothingIsNothing) {
  insert(a_task());
  EXPECT_THAT(must(store().find({})), IsEmpty());
}

TEST_P(StoreConformance, FindGivesEachTaskOnce) {
  const TaskRecord task = insert(a_task());
  const std::vector<TaskId> twice{task.info.id, task.info.id};
  EXPECT_THAT(must(store().find(twice)), SizeIs(1));
}

TEST_P(StoreConformance, FindLooksIntoEverySpace) {
  const TaskRecord ours = insert(a_task().name_space("shop"));
  const TaskRecord theirs = insert(a_task().name_space("bank"));
  const std::vector<TaskId> ids{ours.info.id, theirs.info.id};
  EXPECT_THAT(ids_of(must(store().find(ids))), UnorderedElementsAreArray(ids));
}

TEST_P(StoreConformance, FindTakesThousandsOfIds) {
  std::vector<TaskId> ids = ids_of(insert_many(2500, a_task()));
  EXPECT_THAT(must(store().find(ids)), SizeIs(2500));
}

}  // namespace
}  // namespace easyretry::test
