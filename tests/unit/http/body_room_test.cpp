#include "http/body_room.h"

#include <gtest/gtest.h>

namespace easyretry::http {
namespace {

TEST(BodyRoom, IsSharedAndGivenBack) {
  BodyRoom room{100};
  {
    BodyRoom::Share one{room, "a"};
    EXPECT_TRUE(one.grow_to(25));
    BodyRoom::Share two{room, "b"};
    BodyRoom::Share three{room, "c"};
    BodyRoom::Share four{room, "d"};
    BodyRoom::Share five{room, "e"};
    EXPECT_TRUE(two.grow_to(25) && three.grow_to(25) && four.grow_to(20));
    EXPECT_FALSE(five.grow_to(6));
    EXPECT_EQ(room.taken(), 95U);
    EXPECT_TRUE(five.grow_to(5));
    EXPECT_FALSE(five.grow_to(static_cast<std::size_t>(-1)));
    EXPECT_TRUE(one.grow_to(10)) << "it has that already";
    EXPECT_EQ(room.taken(), 100U);
    one = {};
    EXPECT_EQ(room.taken(), 75U);
  }
  EXPECT_EQ(room.taken(), 0U);
}

TEST(BodyRoom, OneClientMayTakeAQuarter) {
  BodyRoom room{100};
  BodyRoom::Share one{room, "greedy"};
  BodyRoom::Share more{room, "greedy"};
  EXPECT_TRUE(one.grow_to(20));
  EXPECT_FALSE(more.grow_to(6));
  EXPECT_TRUE(more.grow_to(5));
  BodyRoom::Share other{room, "modest"};
  EXPECT_TRUE(other.grow_to(25));
  one = {};
  EXPECT_TRUE(more.grow_to(25));
}

TEST(BodyRoom, SharesMayBeHandedOn) {
  BodyRoom room{100};
  BodyRoom::Share one{room, "a"};
  one.grow_to(10);
  BodyRoom::Share other{std::move(one)};
  EXPECT_TRUE(other.grow_to(20));
  EXPECT_EQ(room.taken(), 20U);
  other = BodyRoom::Share{room, "b"};
  EXPECT_EQ(room.taken(), 0U);
}

}  // namespace
}  // namespace easyretry::http
