// Handlers that keep their ended tasks for a time of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/virtual_instance.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct RetentionTest : ::testing::Test {
  SharedStore shared;
  VirtualInstance instance{shared};
  TaskId ended(const std::string& handler) {
    const TaskId id = instance.submit(handler, "k", 1);
    instance.all();
    return id;
  }
};

TEST_F(RetentionTest, AHandlerThatKeepsNothingLeavesNoHistory) {
  instance.handle("ping", [] {}, {}, {.keep = 0ms});
  instance.handle("pay", [] {}, {}, {.keep = 24h});
  instance.handle("fail", [] { throw std::runtime_error("no"); }, {.stop = {.max_attempts = 1}}, {.keep = 0ms});
  EXPECT_FALSE(instance.core.find(ended("ping")).value());
  EXPECT_FALSE(instance.core.find(ended("fail")).value());
  EXPECT_TRUE(instance.core.find(ended("pay")).value());
}

TEST_F(RetentionTest, RequeueingATaskWithoutArgumentsIsRefusedWithTheReason) {
  instance.handle("pay", [] {}, {}, {.keep_args = 24h});
  const TaskId id = ended("pay");
  shared.clock.advance(24h + 1min);
  instance.core.keeper().step();
  const auto again = instance.core.requeue(id);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::invalid_argument);
  EXPECT_THAT(again.error().detail, AllOf(HasSubstr("arguments"), HasSubstr("keep_args"), HasSubstr(to_string(id))));
  EXPECT_EQ(instance.core.requeue(std::span{&id, 1}).value().front(), std::nullopt) << "among others it is skipped";
  EXPECT_EQ(instance.look(id).info.outcome, Outcome::succeeded) << "the rest of the record is there";
}

TEST_F(RetentionTest, ANegativeTimeIsRefused) {
  EXPECT_THROW(instance.handle("pay", [] {}, {}, {.keep = -1s}), std::invalid_argument);
  EXPECT_THROW(instance.handle("pay", [] {}, {}, {.keep_args = -1s}), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::engine
