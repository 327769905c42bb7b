// The text of a member, with its handlers at the end.

#include "storage/member_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::storage {
namespace {

using Handlers = std::optional<std::vector<std::string>>;

Member read(std::string_view text) {
  Member member;
  read_member_text(text, member);
  return member;
}

TEST(MemberText, BeginsWithTheReadablePart) {
  EXPECT_EQ(member_text("8: 0-7", {{"mail", "pay"}}), "8: 0-7\nhandlers [\"mail\",\"pay\"]");
  EXPECT_EQ(member_text("8: 0-7", std::nullopt), "8: 0-7");
}

TEST(MemberText, IsReadAsItWasWritten) {
  for (const Handlers& handlers :
       {Handlers{}, Handlers{std::vector<std::string>{}}, Handlers{{"a\nhandlers []", "b,c", "d\"e"}}}) {
    const Member member = read(member_text("8: 0-7", handlers));
    EXPECT_EQ(member.says, "8: 0-7");
    EXPECT_EQ(member.handlers, handlers);
  }
}

TEST(MemberText, OfAnotherReleaseIsNoListOfHandlers) {
  for (const std::string text : {"8: 0-7", "", "8: 0-7\nhandlers ", "8: 0-7\nhandlers [1]", "8\nhandlers {}"}) {
    EXPECT_EQ(read(text).says, text);
    EXPECT_EQ(read(text).handlers, std::nullopt);
  }
}

TEST(MemberText, LeavesHandlersOutThatDoNotFit) {
  const Handlers handlers{{"mail", "pay"}};
  const std::size_t exactly = member_text("8: 0-7", handlers).size();
  EXPECT_TRUE(handlers_fit("8: 0-7", handlers, exactly));
  EXPECT_FALSE(handlers_fit("8: 0-7", handlers, exactly - 1));
  EXPECT_EQ(member_text("8: 0-7", handlers, exactly - 1), "8: 0-7");
}

}  // namespace
}  // namespace easyretry::storage
