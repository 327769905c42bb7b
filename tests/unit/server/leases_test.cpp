#include <gtest/gtest.h>

#include "server/lease_queue.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

const Instant kThen{1h};

task::Ticket ticket(std::int64_t id, std::int64_t version = 1) {
  return {static_cast<TaskId>(id), version};
}

TEST(Leases, KnowSinceWhenATaskIsLeasedUntilItEnds) {
  Leases leases{10};
  leases.begin("mail", ticket(1), kThen, kThen + 30s);
  EXPECT_EQ(leases.end("mail", ticket(1)), kThen);
  EXPECT_EQ(leases.end("mail", ticket(1)), std::nullopt);
}

TEST(Leases, AnEarlierLeaseOfTheSameTaskIsAnotherOne) {
  Leases leases{10};
  leases.begin("mail", ticket(1, 2), kThen, kThen + 30s);
  EXPECT_EQ(leases.end("mail", ticket(1, 1)), std::nullopt);
  EXPECT_TRUE(leases.are_held("mail", kThen));
}

TEST(Leases, ForgetTheOldestIfThereAreTooMany) {
  Leases leases{2};
  for (const std::int64_t id : {1, 2, 3}) leases.begin("mail", ticket(id), kThen, kThen + 30s);
  EXPECT_EQ(leases.end("mail", ticket(1)), std::nullopt);
  EXPECT_EQ(leases.end("mail", ticket(2)), kThen);
  EXPECT_EQ(leases.end("mail", ticket(3)), kThen);
}

TEST(Leases, AreHeldUntilTheLastOneExpires) {
  Leases leases{10};
  leases.begin("mail", ticket(1), kThen, kThen + 60s);
  leases.begin("mail", ticket(2), kThen, kThen + 30s);
  EXPECT_TRUE(leases.are_held("mail", kThen + 59s));
  EXPECT_FALSE(leases.are_held("pay", kThen + 59s));
  leases.renew("mail", ticket(1), kThen + 119s);
  EXPECT_TRUE(leases.are_held("mail", kThen + 118s)) << "it was renewed";
  EXPECT_FALSE(leases.are_held("mail", kThen + 119s));
}

TEST(Leases, AreNotHeldOnceTheyHaveEnded) {
  Leases leases{10};
  leases.begin("mail", ticket(1), kThen, kThen + 24h);
  leases.end("mail", ticket(1));
  EXPECT_FALSE(leases.are_held("mail", kThen + 1s));
}

TEST(Leases, OfAnEarlierProcessAreHeldOnceTheyAreRenewed) {
  Leases leases{10};
  leases.renew("mail", ticket(1), kThen + 30s);
  EXPECT_TRUE(leases.are_held("mail", kThen));
  EXPECT_EQ(leases.end("mail", ticket(1)), std::nullopt) << "it is not known when it began";
  EXPECT_FALSE(leases.are_held("mail", kThen));
}

}  // namespace
}  // namespace easyretry::server
