#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreConformance, RenewCarriesTheStoresClock) {
  clock().advance(1234ms);
  EXPECT_EQ(must(store().renew({})).now, now());
}

TEST_P(StoreConformance, AnEmptyRenewAppliesNothing) {
  EXPECT_THAT(must(store().renew({})).applied, IsEmpty());
}

TEST_P(StoreConformance, ARenewedLeaseStartsNow) {
  const TaskRecord held = running(a_task());
  clock().advance(10s);
  EXPECT_TRUE(renew(held, 20s));
  TaskRecord wanted = held;
  wanted.lease_until = now() + 20s;
  expect_same(again(held), wanted);
}

TEST_P(StoreConformance, ARenewedLeaseProtectsTheTask) {
  const TaskRecord held = running(a_task());
  clock().advance(kLease - 1ms);
  renew(held, kLease);
  clock().advance(kLease - 1ms);
  EXPECT_FALSE(try_claim(ticket(held), "thief"));
  EXPECT_THAT(load_shard_of(held).tasks, IsEmpty());
  clock().advance(1ms);
  EXPECT_TRUE(try_claim(ticket(held), "rescuer"));
}

TEST_P(StoreConformance, TheTicketOfTheClaimStillSettlesAfterARenewal) {
  const TaskRecord held = running(a_task());
  renew(held, kLease);
  EXPECT_TRUE(settle(finish(held)));
}

TEST_P(StoreConformance, AnExpiredLeaseIsRenewedIfNoInstanceTookTheTask) {
  const TaskRecord held = running(a_task());
  clock().advance(2 * kLease);
  EXPECT_TRUE(renew(held, kLease));
  EXPECT_FALSE(try_claim(ticket(held), "thief"));
}

TEST_P(StoreConformance, ALeaseMayBeShortened) {
  const TaskRecord held = running(a_task());
  EXPECT_TRUE(renew(held, 1s));
  clock().advance(1s);
  EXPECT_TRUE(try_claim(ticket(held)));
}

TEST_P(StoreConformance, ARenewalLeavesAProgressNoteAndOneWithoutKeepsIt) {
  const TaskRecord held = running(a_task());
  const Renewal with{ticket(held), kLease, "row 100"};
  EXPECT_THAT(must(store().renew({&with, 1})).applied, ElementsAre(true));
  EXPECT_EQ(again(held).info.progress, "row 100");
  renew(held, kLease);
  EXPECT_EQ(again(held).info.progress, "row 100");
  settle(finish(held, Outcome::exhausted));
  EXPECT_EQ(again(held).info.progress, "row 100") << "in history too";
}

TEST_P(StoreConformance, WhoLostTheTaskCannotRenewIt) {
  const TaskRecord slow = running(a_task());
  clock().advance(kLease);
  const TaskRecord rescued = claim(slow, "rescuer");
  EXPECT_FALSE(renew(slow, 24h));
  expect_same(without_attempts(again(slow)), rescued);
}

TEST_P(StoreConformance, OnlyARunningTaskIsRenewed) {
  const TaskRecord pending = insert(a_task());
  const TaskRecord done = finished(a_task());
  EXPECT_FALSE(renew(pending, kLease));
  EXPECT_FALSE(renew(done, kLease));
  expect_same(again(pending), pending);
  expect_same(again(done), done);
}

TEST_P(StoreConformance, RenewAnswersForEachInOrder) {
  const TaskRecord mine = running(a_task());
  const TaskRecord pending = insert(a_task());
  const std::vector<Renewal> mixed{
      {{kUnknown, 1}, kLease}, {ticket(mine), kLease}, {ticket(pending), kLease}, {ticket(mine), kLease}};
  clock().advance(1s);
  EXPECT_THAT(must(store().renew(mixed)).applied, ElementsAre(false, true, false, true));
  EXPECT_EQ(again(mine).lease_until, now() + kLease);
}

TEST_P(StoreConformance, AThousandLeasesAreRenewedInOneBatch) {
  std::vector<Renewal> renewals;
  for (const Ticket& held : tickets(claim_all(insert_many(1000, a_task())))) renewals.push_back({held, kLease});
  clock().advance(1s);
  EXPECT_THAT(must(store().renew(renewals)).applied, ::testing::AllOf(SizeIs(1000), ::testing::Each(true)));
}

}  // namespace
}  // namespace easyretry::test
