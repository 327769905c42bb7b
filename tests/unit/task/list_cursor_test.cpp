#include "task/list_cursor.h"

#include <gtest/gtest.h>

namespace easyretry::task {
namespace {

TEST(ListCursor, HasThePositionOfTheNextPageAndItsOrder) {
  EXPECT_EQ(to_text({ListOrder::newest_first, TaskId{17}}), "older-17");
  EXPECT_EQ(to_text({ListOrder::oldest_first, TaskId{17}}), "newer-17");
}

TEST(ListCursor, IsReadAsItWasWritten) {
  for (const ListOrder order : {ListOrder::newest_first, ListOrder::oldest_first}) {
    for (const TaskId after : {TaskId{1}, TaskId{910'048'318'464'253'839}}) {
      const ListCursor cursor{order, after};
      EXPECT_EQ(parse_list_cursor(to_text(cursor)), cursor);
    }
  }
}

TEST(ListCursor, AnythingElseIsRefused) {
  for (const char* text : {"", "17", "older", "older-", "older-0", "older--1", "older-x", "older-1 ", "Older-1",
                           "newer-9223372036854775808", "-17", "older-newer-1"}) {
    EXPECT_EQ(parse_list_cursor(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace easyretry::task
