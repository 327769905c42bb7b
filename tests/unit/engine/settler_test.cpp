// When outcomes are written: at once, or together with those that are about to come. And what becomes of those that a
// store refuses.

#include "engine/settler.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

class SettlerTest : public ::testing::Test {
 protected:
  SettlerTest() {
    instance.handle("pay", [] {});
    for (const char* key : {"a", "b", "c"}) instance.submit("pay", key);
    instance.claim();
    runs = instance.core.in_flight().all();
  }
  void finish(std::size_t which) {
    task::Settlement done;
    done.ticket = runs.at(which)->ticket();
    instance.core.outcomes().put(runs[which], done);
  }
  std::int64_t finished() { return shared.store->count({.finished = true}).value(); }

  SharedStore shared;
  VirtualInstance instance{shared, {.batch = 3}};
  std::vector<RunPtr> runs;  // claimed, and waiting for a worker
};

TEST_F(SettlerTest, AnOutcomeWaitsAMomentForTheOthersThatAreWaitingToRun) {
  finish(0);
  const Step step = instance.core.settler().step();
  EXPECT_FALSE(step.worked);
  EXPECT_EQ(step.wake, shared.clock.steady() + 2ms);
  EXPECT_EQ(finished(), 0);

  finish(1);
  shared.clock.advance(2ms);
  instance.core.settler().step();
  EXPECT_EQ(finished(), 2);
}

TEST_F(SettlerTest, ALaterOutcomeDoesNotMakeTheFirstWaitLonger) {
  finish(0);
  instance.core.settler().step();
  shared.clock.advance(1ms);
  finish(1);
  EXPECT_EQ(instance.core.settler().step().wake, shared.clock.steady() + 1ms);
}

TEST_F(SettlerTest, AFullBatchDoesNotWait) {
  for (const std::size_t which : {0U, 1U, 2U}) finish(which);
  instance.core.settler().step();
  EXPECT_EQ(finished(), 3);
}

TEST_F(SettlerTest, NothingIsWaitedForWhereNothingIsLeftToRun) {
  instance.core.workers().take_waiting([](const engine::Run&) { return true; });
  finish(0);
  instance.core.settler().step();
  EXPECT_EQ(finished(), 1);
}

// Takes no settlement of which `refused` holds.
class PickyStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<storage::Applied> settle(std::span<const task::Settlement> all) override {
    if (std::ranges::any_of(all, refused)) return fail(Errc::invalid_argument, "picky", "too large");
    return whole_.settle(all);
  }
  std::function<bool(const task::Settlement&)> refused;
};

class RefusedOutcomes : public ::testing::Test {
 protected:
  RefusedOutcomes() {
    instance.handle("pay", [] {});
    for (const char* key : {"a", "b", "c"}) instance.submit("pay", key);
    instance.claim();
    for (const RunPtr& run : instance.core.in_flight().all()) {
      task::Settlement end;
      end.ticket = run->ticket();
      end.outcome = Outcome::rejected;
      end.error = run->record.info.key;
      if (end.error == "b") end.result = "large";
      if (end.error == "c") {
        end.result = "kept";
        end.keep_result = 1h;
      }
      instance.core.outcomes().put(run, end);
    }
  }
  std::string error_of(const std::string& key) {
    return store->list({.finished = true, .key = key}).value().at(0).info.last_error;
  }

  SharedStore shared;
  std::shared_ptr<PickyStore> store = std::make_shared<PickyStore>(shared.clock);
  VirtualInstance instance{(shared.store = store, shared), {.batch = 3}};
};

TEST_F(RefusedOutcomes, LoseTheirResultAndSaySo) {
  store->refused = [](const task::Settlement& s) { return !s.result.empty(); };
  instance.core.settler().step();
  EXPECT_EQ(error_of("a"), "a");
  EXPECT_EQ(error_of("b"), "b (the result could not be stored: too large)");
  EXPECT_EQ(error_of("c"), "c") << "its result was for readers: the task ended as it did";
}

TEST_F(RefusedOutcomes, LoseTheirErrorTextAndSaySo) {
  store->refused = [](const task::Settlement& s) { return s.error.starts_with("b"); };
  instance.core.settler().step();
  EXPECT_EQ(error_of("a"), "a");
  EXPECT_EQ(error_of("b"), "(the error text could not be stored)");
}

TEST_F(RefusedOutcomes, AreDroppedWhenNothingHelps) {
  const TaskId b = store->list({.key = "b"}).value().at(0).info.id;
  store->refused = [b](const task::Settlement& s) { return s.ticket.id == b; };
  instance.core.settler().step();
  EXPECT_EQ(error_of("a"), "a");
  EXPECT_EQ(error_of("c"), "c");
  EXPECT_EQ(store->count({}).value(), 1);
  EXPECT_TRUE(instance.core.in_flight().all().empty());
}

}  // namespace
}  // namespace easyretry::engine
