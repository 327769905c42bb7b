#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/lease_queue.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Instant kThen{1h};

task::Ticket ticket(std::int64_t id, std::int64_t version = 1) {
  return {static_cast<TaskId>(id), version};
}

TEST(Leases, KnowSinceWhenATaskIsLeasedUntilItEnds) {
  Leases leases{10};
  leases.begin(ticket(1), "mail", kThen, kThen + 30s);
  EXPECT_EQ(leases.end(ticket(1)), kThen);
  EXPECT_EQ(leases.end(ticket(1)), std::nullopt);
}

TEST(Leases, AnEarlierLeaseOfTheSameTaskIsAnotherOne) {
  Leases leases{10};
  leases.begin(ticket(1, 2), "mail", kThen, kThen + 30s);
  EXPECT_EQ(leases.end(ticket(1, 1)), std::nullopt);
  EXPECT_THAT(leases.handlers(kThen), ElementsAre("mail"));
}

TEST(Leases, ForgetTheOldestIfThereAreTooManyOfAllHandlersTogether) {
  Leases leases{2};
  leases.begin(ticket(1), "mail", kThen, kThen + 30s);
  leases.renew(ticket(2), "pay", kThen + 30s);
  leases.renew(ticket(1), "mail", kThen + 40s);
  EXPECT_THAT(leases.handlers(kThen), ElementsAre("mail", "pay")) << "a renewal is not another lease";
  leases.begin(ticket(3), "report", kThen, kThen + 30s);
  EXPECT_THAT(leases.handlers(kThen), ElementsAre("pay", "report"));
  EXPECT_EQ(leases.end(ticket(1)), std::nullopt);
  EXPECT_EQ(leases.end(ticket(3)), kThen);
}

TEST(Leases, KeepTheirHandlerBusyUntilTheLastOneExpires) {
  Leases leases{10};
  leases.begin(ticket(1), "mail", kThen, kThen + 60s);
  leases.begin(ticket(2), "mail", kThen, kThen + 30s);
  EXPECT_THAT(leases.handlers(kThen + 59s), ElementsAre("mail"));
  leases.renew(ticket(1), "mail", kThen + 119s);
  EXPECT_THAT(leases.handlers(kThen + 118s), ElementsAre("mail")) << "it was renewed";
  EXPECT_THAT(leases.handlers(kThen + 119s), IsEmpty());
  EXPECT_EQ(leases.end(ticket(1)), kThen) << "late, and still measured";
}

TEST(Leases, KeepNoHandlerBusyOnceTheyHaveEnded) {
  Leases leases{10};
  leases.begin(ticket(1), "mail", kThen, kThen + 24h);
  leases.end(ticket(1));
  EXPECT_THAT(leases.handlers(kThen + 1s), IsEmpty());
}

TEST(Leases, OfAnEarlierProcessAreKnownOnceTheyAreRenewed) {
  Leases leases{10};
  leases.renew(ticket(1), "mail", kThen + 30s);
  EXPECT_THAT(leases.handlers(kThen), ElementsAre("mail"));
  EXPECT_EQ(leases.end(ticket(1)), std::nullopt) << "it is not known when it began";
  EXPECT_THAT(leases.handlers(kThen), IsEmpty());
}

}  // namespace
}  // namespace easyretry::server
