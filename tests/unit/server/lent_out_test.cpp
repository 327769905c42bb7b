#include "server/lent_out.h"

#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

const Instant kThen{1h};

task::Ticket ticket(std::int64_t id, std::int64_t version = 1) {
  return {static_cast<TaskId>(id), version};
}

TEST(LentOut, KnowsSinceWhenATaskIsLentUntilItIsAnswered) {
  LentOut lent_out{10};
  lent_out.lent(ticket(1), kThen);
  EXPECT_EQ(lent_out.answered(ticket(1)), kThen);
  EXPECT_EQ(lent_out.answered(ticket(1)), std::nullopt);
}

TEST(LentOut, AnEarlierLoanOfTheSameTaskIsAnotherOne) {
  LentOut lent_out{10};
  lent_out.lent(ticket(1, 2), kThen);
  EXPECT_EQ(lent_out.answered(ticket(1, 1)), std::nullopt);
}

TEST(LentOut, ForgetsTheOldestWhereThereAreTooMany) {
  LentOut lent_out{2};
  for (const std::int64_t id : {1, 2, 3}) lent_out.lent(ticket(id), kThen);
  EXPECT_EQ(lent_out.answered(ticket(1)), std::nullopt);
  EXPECT_EQ(lent_out.answered(ticket(2)), kThen);
  EXPECT_EQ(lent_out.answered(ticket(3)), kThen);
}

}  // namespace
}  // namespace easyretry::server
