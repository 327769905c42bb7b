// Inserts whose request or reply was lost.

#include "engine/inserter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/endings.h"
#include "support/task_builder.h"
#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using storage::Inserted;
using task::NewTask;
using test::a_task;

enum class Losing { nothing, requests, replies, patience };

// Losing one of them, and no more. Without patience, the request arrives together with the next one, a moment before
// it.
class LossyStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Losing loses = Losing::nothing;
  bool knows_ids = true;
  std::function<void()> meanwhile = [] {};  // before it is looked for

  storage::InsertResult insert(std::span<const NewTask> tasks) override {
    if (auto late = std::exchange(late_, {})) late();
    const Losing lost = std::exchange(loses, Losing::nothing);
    const auto ids = whole_.draw_ids(tasks);
    const auto arrive = [this, ids, tasks = std::vector(tasks.begin(), tasks.end())] {
      return whole_.insert_as(ids, tasks);
    };
    if (lost == Losing::nothing) return arrive();
    if (lost == Losing::replies) static_cast<void>(arrive());
    if (lost == Losing::patience) late_ = [arrive] { static_cast<void>(arrive()); };
    meanwhile();
    return tl::make_unexpected(storage::InsertFailure{{Errc::in_doubt, "lossy", "the connection was lost"},
                                                      knows_ids ? ids : std::vector<TaskId>{}});
  }

 private:
  std::function<void()> late_;
};

class LostInserts : public ::testing::TestWithParam<Losing> {
 protected:
  NewTask task(const std::string& key, OnDuplicate on_duplicate = OnDuplicate::keep, int max_attempts = 0) {
    NewTask made = a_task().name_space("default").key(key);
    made.on_duplicate = on_duplicate;
    made.rules.max_attempts = max_attempts;
    return made;
  }
  // In the millisecond of whatever was stored before: its time says nothing of whose a task is.
  Result<std::vector<Inserted>> submit_lossy(const std::vector<NewTask>& tasks) {
    store->loses = GetParam();
    return instance.core.submit(tasks);
  }
  void end_all() {
    const auto all = store->list({.name_space = "default"}).value();
    for (const auto& record : all) {
      ASSERT_TRUE(store->end(test::endings({&record.info.id, 1})));
    }
  }
  std::size_t live() { return store->list({.name_space = "default"}).value().size(); }

  SharedStore shared;
  std::shared_ptr<LossyStore> store = std::make_shared<LossyStore>(shared.clock);
  VirtualInstance instance{(shared.store = store, shared)};
};

TEST_P(LostInserts, ATaskIsStoredOnce) {
  const auto stored = submit_lossy({task("k")});
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->front().created);
  EXPECT_EQ(live(), 1U);
}

TEST_P(LostInserts, AKeyThatIsLiveIsMet) {
  const auto first = instance.core.submit(std::vector{task("k")});
  const auto second = submit_lossy({task("k")});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->front().created);
  EXPECT_EQ(second->front().id, first->front().id);
}

TEST_P(LostInserts, AKeyThatIsLiveIsRejectedWhereThatIsAskedFor) {
  ASSERT_TRUE(instance.core.submit(std::vector{task("k")}));
  const auto second = submit_lossy({task("k", OnDuplicate::reject)});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::already_exists);
  EXPECT_EQ(live(), 1U);
}

TEST_P(LostInserts, ABatchIsNotStoredIfOneOfItsTasksIsRejected) {
  ASSERT_TRUE(instance.core.submit(std::vector{task("k")}));
  const auto second = submit_lossy({task("a"), task("k", OnDuplicate::reject), task("b")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::already_exists);
  EXPECT_EQ(live(), 1U);
}

TEST_P(LostInserts, ABatchThatWasAcceptedIsNotRejectedForItsOwnTasks) {
  const auto stored = submit_lossy({task("a", OnDuplicate::reject), task("b", OnDuplicate::reject)});
  ASSERT_TRUE(stored) << to_string(stored.error());
  EXPECT_EQ(live(), 2U);
}

TEST_P(LostInserts, AKeyThatIsLiveGetsTheNewPolicyWhereThatIsAskedFor) {
  const auto first = instance.core.submit(std::vector{task("k", OnDuplicate::keep, 3)});
  const auto second = submit_lossy({task("k", OnDuplicate::update_policy, 7)});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->front().id, first->front().id);
  EXPECT_EQ(instance.look(first->front().id).rules.max_attempts, 7);
}

// A task of an insert whose reply was lost is not mistaken for one of the next insert.
TEST_P(LostInserts, AKeyThatIsLiveByALostReplyIsRejected) {
  ASSERT_TRUE(submit_lossy({task("k", OnDuplicate::reject)}));
  const auto second = submit_lossy({task("k", OnDuplicate::reject)});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::already_exists);
  EXPECT_EQ(live(), 1U);
}

TEST_P(LostInserts, ATaskThatHasEndedMeanwhileIsFoundAmongManyOfItsKey) {
  constexpr int kMoreThanAPage = 150;
  store->meanwhile = [this] { end_all(); };
  for (int i = 0; i < kMoreThanAPage; ++i) {
    ASSERT_TRUE(instance.core.submit(std::vector{task("k")}));
    end_all();
  }
  const auto stored = submit_lossy({task("k")});
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->front().created);
  end_all();
  EXPECT_EQ(store->count({.name_space = "default", .finished = true}).value(), kMoreThanAPage + 1);
}

TEST_P(LostInserts, OfAKeyTwiceInABatchTheFirstIsStored) {
  const auto stored = submit_lossy({task("k"), task("k")});
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->at(0).created);
  EXPECT_FALSE(stored->at(1).created);
  EXPECT_EQ(stored->at(0).id, stored->at(1).id);
}

TEST_P(LostInserts, ALeasedTaskIsRunByTheInstanceThatStoredIt) {
  NewTask leased = task("k");
  leased.owner = instance.core.context().owner;
  leased.lease = 30s;
  const auto stored = submit_lossy({leased});
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->front().created);
  const auto again = submit_lossy({leased});
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->front().created) << "the first has it";
}

TEST_P(LostInserts, AreInDoubtWhereTheStoreDoesNotKnowItsIds) {
  store->knows_ids = false;
  const auto stored = submit_lossy({task("k", OnDuplicate::reject)});
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, Errc::in_doubt);
}

std::string name_of(Losing loses) {
  return loses == Losing::requests ? "requests" : loses == Losing::replies ? "replies" : "patience";
}
INSTANTIATE_TEST_SUITE_P(Of, LostInserts, ::testing::Values(Losing::requests, Losing::replies, Losing::patience),
                         [](const auto& of) { return name_of(of.param); });

}  // namespace
}  // namespace easyretry::engine
