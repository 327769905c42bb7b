#include "http/body_room.h"

#include <gtest/gtest.h>

namespace easyretry::http {
namespace {

TEST(BodyRoom, IsSharedAndGivenBack) {
  BodyRoom room{100};
  {
    BodyRoom::Share one{room};
    EXPECT_TRUE(one.grow_to(60));
    BodyRoom::Share other{room};
    EXPECT_FALSE(other.grow_to(41));
    EXPECT_EQ(room.taken(), 60U);
    EXPECT_TRUE(other.grow_to(40));
    EXPECT_FALSE(other.grow_to(static_cast<std::size_t>(-1)));
    EXPECT_TRUE(one.grow_to(10)) << "it has that already";
    EXPECT_EQ(room.taken(), 100U);
    one = {};
    EXPECT_EQ(room.taken(), 40U);
  }
  EXPECT_EQ(room.taken(), 0U);
}

TEST(BodyRoom, SharesMayBeHandedOn) {
  BodyRoom room{100};
  BodyRoom::Share one{room};
  one.grow_to(50);
  BodyRoom::Share other{std::move(one)};
  EXPECT_TRUE(other.grow_to(80));
  EXPECT_EQ(room.taken(), 80U);
  other = BodyRoom::Share{room};
  EXPECT_EQ(room.taken(), 0U);
}

}  // namespace
}  // namespace easyretry::http
