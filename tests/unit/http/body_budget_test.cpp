#include "http/body_budget.h"

#include <gtest/gtest.h>

namespace easyretry::http {
namespace {

TEST(BodyBudget, IsSharedAndGivenBack) {
  BodyBudget budget{100};
  {
    BodyBudget::Share one{budget, "a"};
    EXPECT_TRUE(one.grow_to(25));
    BodyBudget::Share two{budget, "b"};
    BodyBudget::Share three{budget, "c"};
    BodyBudget::Share four{budget, "d"};
    BodyBudget::Share five{budget, "e"};
    EXPECT_TRUE(two.grow_to(25) && three.grow_to(25) && four.grow_to(20));
    EXPECT_FALSE(five.grow_to(6));
    EXPECT_EQ(budget.taken(), 95U);
    EXPECT_TRUE(five.grow_to(5));
    EXPECT_FALSE(five.grow_to(static_cast<std::size_t>(-1)));
    EXPECT_TRUE(one.grow_to(10)) << "it already has that much";
    EXPECT_EQ(budget.taken(), 100U);
    one = {};
    EXPECT_EQ(budget.taken(), 75U);
  }
  EXPECT_EQ(budget.taken(), 0U);
}

TEST(BodyBudget, OneClientMayTakeAQuarter) {
  BodyBudget budget{100};
  BodyBudget::Share one{budget, "greedy"};
  BodyBudget::Share more{budget, "greedy"};
  EXPECT_TRUE(one.grow_to(20));
  EXPECT_FALSE(more.grow_to(6));
  EXPECT_TRUE(more.grow_to(5));
  BodyBudget::Share other{budget, "modest"};
  EXPECT_TRUE(other.grow_to(25));
  one = {};
  EXPECT_TRUE(more.grow_to(25));
}

TEST(BodyBudget, SharesMayBeHandedOn) {
  BodyBudget budget{100};
  BodyBudget::Share one{budget, "a"};
  one.grow_to(10);
  BodyBudget::Share other{std::move(one)};
  EXPECT_TRUE(other.grow_to(20));
  EXPECT_EQ(budget.taken(), 20U);
  other = BodyBudget::Share{budget, "b"};
  EXPECT_EQ(budget.taken(), 0U);
}

}  // namespace
}  // namespace easyretry::http
