// What becomes of tasks whose request to be stored, or the reply to it, was lost.

#include "engine/inserting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/task_builder.h"
#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using storage::Inserted;
using task::NewTask;
using test::a_task;

enum class Loses { nothing, requests, replies };

// Loses one of them, and no more.
class LossyStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Loses loses = Loses::nothing;

  Result<storage::InsertReply> insert(std::span<const NewTask> tasks) override {
    const Loses lost = std::exchange(loses, Loses::nothing);
    if (lost == Loses::requests) return in_doubt();
    auto reply = whole_.insert(tasks);
    if (lost == Loses::replies) return in_doubt();
    return reply;
  }

 private:
  static tl::unexpected<Error> in_doubt() { return fail(Errc::in_doubt, "lossy", "the connection was lost"); }
};

class LostInserts : public ::testing::TestWithParam<Loses> {
 protected:
  NewTask task(const std::string& key, OnDuplicate on_duplicate = OnDuplicate::keep, int max_attempts = 0) {
    NewTask made = a_task().space("default").key(key);
    made.on_duplicate = on_duplicate;
    made.rules.max_attempts = max_attempts;
    return made;
  }
  Result<std::vector<Inserted>> submit_lossy(const std::vector<NewTask>& tasks) {
    shared.clock.advance(1s);
    store->loses = GetParam();
    return instance.core.submit(tasks);
  }
  std::size_t live() { return store->list({.space = "default"}).value().size(); }

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

TEST_P(LostInserts, NothingOfABatchIsStoredWhereOneOfItIsRejected) {
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

INSTANTIATE_TEST_SUITE_P(Of, LostInserts, ::testing::Values(Loses::requests, Loses::replies),
                         [](const auto& of) { return of.param == Loses::requests ? "requests" : "replies"; });

}  // namespace
}  // namespace easyretry::engine
