// Leases of tasks in flight, and handlers that run for too long.

#include "engine/renewer.h"

#include <gtest/gtest.h>

#include "unit/engine/forwarding_store.h"
#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

class RenewedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  int renewals = 0;
  bool away = false;
  std::function<void()> meanwhile = [] {};

  Result<storage::Applied> renew(std::span<const storage::Renewal> all) override {
    renewals += static_cast<int>(all.size());
    meanwhile();
    if (away) return fail(Errc::unavailable, "renewed", "away");
    return whole_.renew(all);
  }
};

class RenewerTest : public ::testing::Test {
 protected:
  RunPtr claim(HandlerOptions options = {}) {
    instance.handle(
        "pay", [] {}, {}, std::move(options));
    const TaskId id = instance.submit("pay", "k");
    instance.claim();
    return instance.core.in_flight().find(id);
  }
  Step step() { return instance.core.renewer().step(); }
  Millis lease() const { return instance.core.options().lease; }

  SharedStore shared;
  const std::shared_ptr<RenewedStore> store = std::make_shared<RenewedStore>(shared.clock);
  VirtualInstance instance{(shared.store = store, shared)};
};

TEST_F(RenewerTest, ALeaseIsRenewedWithTwoThirdsOfItLeft) {
  const RunPtr run = claim();
  const Instant before = run->trusted_until;
  shared.clock.advance(lease() / 4);
  step();
  EXPECT_EQ(store->renewals, 0);
  shared.clock.advance(lease() / 10);
  step();
  EXPECT_EQ(store->renewals, 1);
  EXPECT_GT(run->trusted_until.load(), before + lease() / 4);
}

TEST_F(RenewerTest, TwoFailedRenewalsCostNoLease) {
  const RunPtr run = claim();
  store->away = true;
  for (int i = 0; i < 2; ++i) {
    shared.clock.advance(lease() * 4 / 10);
    step();
    EXPECT_EQ(run->interrupt, Interrupt::none);
  }
  store->away = false;
  step();
  EXPECT_EQ(run->interrupt, Interrupt::none);
  EXPECT_GT(run->trusted_until.load(), shared.clock.steady() + lease() / 2);
  EXPECT_EQ(instance.core.stats().leases_lost, 0U);
}

TEST_F(RenewerTest, ALeaseThatCannotBeTrustedAnyMoreStopsTheHandler) {
  const RunPtr run = claim();
  store->away = true;
  shared.clock.advance(lease());
  step();
  EXPECT_EQ(run->interrupt, Interrupt::lease_lost);
  EXPECT_TRUE(run->stop.stop_requested());
  EXPECT_EQ(instance.core.stats().leases_lost, 1U);
}

TEST_F(RenewerTest, ATaskThatWasSettledMeanwhileIsNoLostLease) {
  const RunPtr run = claim();
  shared.clock.advance(lease() / 2);
  store->meanwhile = [&] {
    task::Settlement done;
    done.ticket = run->ticket();
    EXPECT_TRUE(instance.core.settle_now(run, std::move(done)).value());
  };
  step();
  EXPECT_EQ(store->renewals, 1);
  EXPECT_EQ(run->interrupt, Interrupt::none);
  EXPECT_EQ(instance.core.stats().leases_lost, 0U);
}

TEST_F(RenewerTest, LooksOftenEnoughForTheShortestTimeout) {
  claim();
  EXPECT_EQ(step().wake, shared.clock.steady() + lease() / 6);
  instance.handle("mail", [] {}, {}, {.timeout = 200ms});
  EXPECT_EQ(step().wake, shared.clock.steady() + 20ms);
}

TEST_F(RenewerTest, ATimeoutStopsTheHandlerAndIsCountedOnce) {
  const RunPtr run = claim({.timeout = 1s});
  instance.core.mark_started(*run);
  shared.clock.advance(999ms);
  step();
  EXPECT_EQ(run->interrupt, Interrupt::none);
  shared.clock.advance(1ms);
  step();
  step();
  EXPECT_EQ(run->interrupt, Interrupt::timeout);
  EXPECT_TRUE(run->stop.stop_requested());
  EXPECT_EQ(instance.core.stats().timeouts, 1U);
}

TEST_F(RenewerTest, AHandlerThatAskedForMoreTimeGetsIt) {
  const RunPtr run = claim({.timeout = 1s});
  instance.core.mark_started(*run);
  run->extended_until = shared.clock.steady() + 3s;
  shared.clock.advance(2s);
  step();
  EXPECT_EQ(run->interrupt, Interrupt::none);
  shared.clock.advance(1s);
  step();
  EXPECT_EQ(run->interrupt, Interrupt::timeout);
}

TEST_F(RenewerTest, ATaskThatWaitsForItsWorkerHasNoTimeout) {
  const RunPtr run = claim({.timeout = 1s});
  shared.clock.advance(5s);
  step();
  EXPECT_EQ(run->interrupt, Interrupt::none);
}

TEST_F(RenewerTest, TheLeaseOfAHungHandlerIsNotRenewed) {
  const RunPtr run = claim({.timeout = 1s});
  instance.core.mark_started(*run);
  shared.clock.advance(lease() / 2);
  step();
  EXPECT_EQ(store->renewals, 0);
}

}  // namespace
}  // namespace easyretry::engine
