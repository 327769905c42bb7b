#include "webhook/seats.h"

#include <gtest/gtest.h>

namespace easyretry::webhook {
namespace {

TEST(SeatsTest, EachCallGetsTheLowestSeatThatIsFree) {
  Seats seats;
  for (std::size_t expected = 0; expected < 4; ++expected) EXPECT_EQ(seats.take("a:80"), expected);
  seats.give_back("a:80", 2);
  seats.give_back("a:80", 1);
  EXPECT_EQ(seats.take("a:80"), 1U);
  EXPECT_EQ(seats.take("a:80"), 2U);
  EXPECT_EQ(seats.take("a:80"), 4U);
}

TEST(SeatsTest, ServersHaveSeatsOfTheirOwn) {
  Seats seats;
  EXPECT_EQ(seats.take("a:80"), 0U);
  EXPECT_EQ(seats.take("b:80"), 0U);
  EXPECT_EQ(seats.take("b:80"), 1U);
}

TEST(SeatsTest, WhoeverIsAloneHasTheFirstOne) {
  Seats seats;
  seats.take("a:80");
  const std::size_t last = seats.take("a:80");
  seats.give_back("a:80", 0);
  seats.give_back("a:80", last);
  EXPECT_EQ(seats.take("a:80"), 0U);
}

}  // namespace
}  // namespace easyretry::webhook
