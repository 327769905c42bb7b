#include <gtest/gtest.h>

#include "webhook/multi.h"

namespace easyretry::webhook {
namespace {

TEST(ConnectionSlotsTest, EachCallGetsTheLowestSlotThatIsFree) {
  ConnectionSlots slots;
  for (std::size_t expected = 0; expected < 4; ++expected) EXPECT_EQ(slots.take("a:80"), expected);
  slots.give_back("a:80", 2);
  slots.give_back("a:80", 1);
  EXPECT_EQ(slots.take("a:80"), 1U);
  EXPECT_EQ(slots.take("a:80"), 2U);
  EXPECT_EQ(slots.take("a:80"), 4U);
}

TEST(ConnectionSlotsTest, ServersHaveSlotsOfTheirOwn) {
  ConnectionSlots slots;
  EXPECT_EQ(slots.take("a:80"), 0U);
  EXPECT_EQ(slots.take("b:80"), 0U);
  EXPECT_EQ(slots.take("b:80"), 1U);
}

TEST(ConnectionSlotsTest, ASingleCallHasTheFirstOne) {
  ConnectionSlots slots;
  slots.take("a:80");
  const std::size_t last = slots.take("a:80");
  slots.give_back("a:80", 0);
  slots.give_back("a:80", last);
  EXPECT_EQ(slots.take("a:80"), 0U);
}

}  // namespace
}  // namespace easyretry::webhook
