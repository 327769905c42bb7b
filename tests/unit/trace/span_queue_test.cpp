#include "trace/span_queue.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::trace {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SpanQueue, KeepsABoundedNumberAndCountsTheOthers) {
  SpanQueue queue{3, 3, 1h};
  for (int i = 0; i < 10; ++i) queue.put({});
  EXPECT_EQ(queue.counts().dropped, 7U);
  EXPECT_THAT(queue.take(), SizeIs(3));
}

TEST(SpanQueue, AFullBatchDoesNotWaitForTheDelay) {
  SpanQueue queue{10, 2, 1h};
  auto taken = std::async(std::launch::async, [&] { return queue.take(); });
  queue.put({});
  queue.put({});
  queue.put({});
  EXPECT_THAT(taken.get(), SizeIs(2));
}

TEST(SpanQueue, ABatchThatIsNotFullIsTakenAfterTheDelay) {
  SpanQueue queue{10, 5, 1ms};
  queue.put({});
  EXPECT_THAT(queue.take(), SizeIs(1));
}

TEST(SpanQueue, AfterCloseTheRestIsTakenAtOnceAndNothingComesAfterIt) {
  SpanQueue queue{10, 2, 1h};
  for (int i = 0; i < 3; ++i) queue.put({});
  queue.close();
  queue.put({});
  EXPECT_EQ(queue.counts().dropped, 1U);
  EXPECT_THAT(queue.take(), SizeIs(2));
  EXPECT_THAT(queue.take(), SizeIs(1));
  EXPECT_THAT(queue.take(), IsEmpty());
}

TEST(SpanQueue, ClosingEndsAPause) {
  SpanQueue queue{10, 2, 1h};
  auto paused = std::async(std::launch::async, [&] { return queue.pause(1h); });
  queue.close();
  EXPECT_FALSE(paused.get());
}

}  // namespace
}  // namespace easyretry::trace
