// A store of which one part does not answer: the engine goes on with the others, and loses nothing of it.

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using storage::Applied;
using task::TaskRecord;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Those of `away` are in the part that does not answer.
class HalfAwayStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::set<TaskId> away;
  bool claims_come_through = false;  // and only the reply is lost
  int settles = 0;

  Result<storage::ClaimReply> claim(const storage::ClaimRequest& request) override {
    std::vector<task::Ticket> here;
    std::vector<task::Ticket> there;
    for (const auto& ticket : request.tickets) (away.contains(ticket.id) ? there : here).push_back(ticket);
    auto reply = whole_.claim({here, request.owner, request.lease});
    if (there.empty()) return reply;
    if (claims_come_through) whole_.claim({there, request.owner, request.lease}).value();
    reply->trouble = trouble();
    reply->in_doubt = there;
    return reply;
  }
  Result<Applied> settle(std::span<const task::Settlement> settlements) override {
    ++settles;
    return change(settlements, [this](const auto& some) { return whole_.settle(some); });
  }
  Result<Applied> renew(std::span<const storage::Renewal> renewals) override {
    return change(renewals, [this](const auto& some) { return whole_.renew(some); });
  }
  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override {
    if (std::ranges::any_of(ids, [&](TaskId id) { return away.contains(id); })) return tl::make_unexpected(trouble());
    return whole_.find(ids);
  }

 private:
  static Error trouble() { return {Errc::unavailable, "half", "a part is away"}; }

  template <class Items, class Call>
  Result<Applied> change(const Items& items, Call call) {
    if (items.size() == 1 && away.contains(items[0].ticket.id)) return tl::make_unexpected(trouble());
    Applied reply;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool there = away.contains(items[i].ticket.id);
      if (there) reply.unanswered.push_back(i);
      if (there) reply.trouble = trouble();
      reply.applied.push_back(!there && call(items.subspan(i, 1)).value().applied[0]);
    }
    reply.now = whole_.claim({}).value().now;
    return reply;
  }
};

class HalfAway : public ::testing::Test {
 protected:
  HalfAway() {
    instance.handle("pay", [] {});
  }
  TaskId submit(const std::string& key) { return instance.submit("pay", key); }
  std::vector<TaskId> held() {
    std::vector<TaskId> ids;
    for (const RunPtr& run : instance.core.in_flight().all()) ids.push_back(run->record.info.id);
    return ids;
  }
  std::int64_t finished() { return store->count({.finished = true}).value(); }
  // Two tasks that are due, of which one is in the part that goes away before they are claimed.
  std::pair<TaskId, TaskId> claim_there_and_here() {
    const TaskId there = submit("there");
    const TaskId here = submit("here");
    store->away = {there};
    instance.claim();
    EXPECT_THAT(held(), ElementsAre(here));
    return {there, here};
  }
  // The same, when both have been run, and are to be settled.
  void settle_there_and_here() {
    const TaskId there = submit("there");
    submit("here");
    instance.claim();
    instance.run_handlers();
    store->away = {there};
    instance.settle();
    EXPECT_EQ(finished(), 1);
    EXPECT_THAT(held(), ElementsAre(there)) << "it is still renewed";
  }
  void wait_a_little() { shared.clock.advance(3s); }  // longer than any pause after failures

  SharedStore shared;
  const std::shared_ptr<HalfAwayStore> store = std::make_shared<HalfAwayStore>(shared.clock);
  VirtualInstance instance{(shared.store = store, shared)};
};

TEST_F(HalfAway, AClaimInDoubtIsLookedForWhileOthersAreClaimedAndIsRunWithoutBeingTakenForACrash) {
  store->claims_come_through = true;
  const auto [there, here] = claim_there_and_here();
  const TaskId another = submit("another");
  wait_a_little();
  instance.claim();
  EXPECT_THAT(held(), UnorderedElementsAre(here, another)) << "it is not waited for";

  store->away.clear();
  wait_a_little();
  instance.claim();
  EXPECT_THAT(held(), UnorderedElementsAre(here, another, there));
  instance.run_handlers();
  shared.clock.advance(2ms);
  instance.settle();
  EXPECT_EQ(finished(), 3);
  EXPECT_EQ(instance.look(there).info.deliveries, 1);
  EXPECT_EQ(instance.look(there).info.crashes, 0);
}

TEST_F(HalfAway, AClaimThatNeverCameThroughIsMadeAgain) {
  const auto [there, here] = claim_there_and_here();
  store->away.clear();
  wait_a_little();
  instance.claim();
  instance.claim();
  EXPECT_THAT(held(), UnorderedElementsAre(here, there));
}

TEST_F(HalfAway, AnOutcomeWithoutAnAnswerIsSentAgainApartFromTheOthersWhichDoNotWait) {
  settle_there_and_here();
  for (int i = 0; i < 3; ++i) {
    submit("another-" + std::to_string(i));
    instance.claim();
    instance.run_handlers();
    wait_a_little();
    instance.settle();  // of the one that was postponed, in vain
    instance.settle();
    EXPECT_EQ(finished(), 2 + i);
  }
  store->away.clear();
  wait_a_little();
  instance.settle();
  EXPECT_EQ(finished(), 5);
  EXPECT_THAT(held(), ::testing::IsEmpty());
}

TEST_F(HalfAway, APostponedCallIsNotSentBeforeItsTime) {
  settle_there_and_here();
  const int sent = store->settles;
  const Step step = instance.core.settler().step();
  EXPECT_EQ(store->settles, sent);
  EXPECT_GT(step.wake, shared.clock.steady());
  EXPECT_LT(step.wake, shared.clock.steady() + 3s);
}

TEST_F(HalfAway, ARenewalWithoutAnAnswerIsNotALoss) {
  const TaskId there = submit("there");
  submit("here");
  instance.claim();
  store->away = {there};
  shared.clock.advance(15s);  // half of the lease
  instance.core.renewer().step();
  EXPECT_EQ(instance.core.context().counters.leases_lost, 0U);
  store->away.clear();
  instance.core.renewer().step();
  shared.clock.advance(20s);
  instance.core.renewer().step();
  EXPECT_EQ(instance.core.context().counters.leases_lost, 0U);
}

}  // namespace
}  // namespace easyretry::engine
