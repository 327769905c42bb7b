// The measurements of a working engine.

#include "engine/measures.h"

#include <numeric>

#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

std::uint64_t nanos(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

std::uint64_t count(const Histogram& histogram) {
  const auto counts = histogram.read().counts;
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

struct MeasuresTest : ::testing::Test {
  Histogram& run_time(const std::string& handler) { return *context.handlers.snapshot()->find(handler)->run_time; }

  SharedStore shared;
  VirtualInstance instance{shared};
  Context& context = instance.core.context();
  Measures& measures = context.measures;
};

TEST_F(MeasuresTest, LatenessIsFromTheDueTimeToTheStart) {
  instance.handle("pay", [] {});
  instance.submit("pay", "a");
  shared.clock.advance(300ms);
  instance.claim();
  shared.clock.advance(200ms);
  instance.run_handlers();
  EXPECT_EQ(count(measures.lateness), 1);
  EXPECT_EQ(measures.lateness.read().sum, nanos(500ms));
}

TEST_F(MeasuresTest, RunTimeIsTheHandlersOwn) {
  instance.handle("slow", [&] { shared.clock.advance(2s); });
  instance.handle("quick", [&] { shared.clock.advance(1ms); });
  instance.submit("slow", "a");
  instance.submit("quick", "b");
  instance.all();
  EXPECT_EQ(run_time("slow").read().sum, nanos(2s));
  EXPECT_EQ(run_time("quick").read().sum, nanos(1ms));
}

TEST_F(MeasuresTest, AFailedAttemptHasARunTimeToo) {
  instance.handle("pay", [&] {
    shared.clock.advance(1s);
    throw std::runtime_error("no");
  });
  instance.submit("pay", "a");
  instance.all();
  EXPECT_EQ(run_time("pay").read().sum, nanos(1s));
}

TEST_F(MeasuresTest, FailedAttemptsAndLatenessAreTheHandlersOwn) {
  instance.handle("pay", [] { throw std::runtime_error("no"); });
  instance.handle("mail", [] {});
  instance.submit("pay", "a");
  instance.submit("mail", "b");
  instance.all();
  const auto known = context.handlers.snapshot();
  EXPECT_EQ(known->find("pay")->failed_attempts->load(), 1U);
  EXPECT_EQ(known->find("mail")->failed_attempts->load(), 0U);
  EXPECT_EQ(count(*known->find("pay")->lateness), 1);
  EXPECT_EQ(count(*known->find("mail")->lateness), 1);
}

TEST_F(MeasuresTest, RunTimesAreKeptWhenSettingsChange) {
  instance.handle("pay", [&] { shared.clock.advance(1s); });
  instance.submit("pay", "a");
  instance.all();
  context.handlers.reconfigure({{"pay", {Policy{}, HandlerOptions{.timeout = 1min}}}});
  EXPECT_EQ(count(run_time("pay")), 1);
}

TEST_F(MeasuresTest, BatchesAreCountedByTheCallAndNotByTheTask) {
  instance.handle("pay", [] {});
  for (const char* key : {"a", "b", "c"}) instance.submit("pay", key);
  instance.all();
  EXPECT_EQ(count(measures.claim_batch), 1);
  EXPECT_EQ(measures.claim_batch.read().sum, 3);
  EXPECT_EQ(count(measures.settle_batch), 1);
  EXPECT_EQ(measures.settle_batch.read().sum, 3);
}

TEST_F(MeasuresTest, EveryVerbOfTheStoreIsTimedByItself) {
  instance.handle("pay", [] {});
  instance.submit("pay", "a");
  instance.submit("pay", "b");
  instance.all();
  EXPECT_EQ(count(measures.latency_of(StoreVerb::insert)), 2);
  EXPECT_EQ(count(measures.latency_of(StoreVerb::claim)), 1);
  EXPECT_EQ(count(measures.latency_of(StoreVerb::settle)), 1);
  EXPECT_EQ(count(measures.latency_of(StoreVerb::renew)), 0);
}

TEST_F(MeasuresTest, TheWheelHoldsTasksThatAreNotYetDue) {
  instance.handle("pay", [] {});
  task::NewTask later;
  later.name_space = "default";
  later.handler = "pay";
  later.key = "later";
  later.payload = "[]";
  later.delay = 1s;
  ASSERT_TRUE(instance.core.submit({&later, 1}));
  instance.core.claimers()[0].step();  // without the loader, which would read it once more
  EXPECT_EQ(instance.core.schedule().in_wheel(), 1);
  shared.clock.advance(1s);
  instance.core.claimers()[0].step();
  EXPECT_EQ(instance.core.schedule().in_wheel(), 0);
}

}  // namespace
}  // namespace easyretry::engine
