#include <gtest/gtest.h>

#include "server/lease_queue.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

const Instant kThen{1h};

task::Ticket ticket(std::int64_t id, std::int64_t version = 1) {
  return {static_cast<TaskId>(id), version};
}

TEST(LeaseStarts, KnowsSinceWhenATaskIsLentUntilItIsAnswered) {
  LeaseStarts starts{10};
  starts.add(ticket(1), kThen);
  EXPECT_EQ(starts.take(ticket(1)), kThen);
  EXPECT_EQ(starts.take(ticket(1)), std::nullopt);
}

TEST(LeaseStarts, AnEarlierLoanOfTheSameTaskIsAnotherOne) {
  LeaseStarts starts{10};
  starts.add(ticket(1, 2), kThen);
  EXPECT_EQ(starts.take(ticket(1, 1)), std::nullopt);
}

TEST(LeaseStarts, ForgetsTheOldestWhereThereAreTooMany) {
  LeaseStarts starts{2};
  for (const std::int64_t id : {1, 2, 3}) starts.add(ticket(id), kThen);
  EXPECT_EQ(starts.take(ticket(1)), std::nullopt);
  EXPECT_EQ(starts.take(ticket(2)), kThen);
  EXPECT_EQ(starts.take(ticket(3)), kThen);
}

}  // namespace
}  // namespace easyretry::server
