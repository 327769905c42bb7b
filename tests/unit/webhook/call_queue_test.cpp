#include "webhook/call_queue.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::webhook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<CallId> all_next(CallQueue& queue) {
  std::vector<CallId> begun;
  while (const auto call = queue.next()) begun.push_back(*call);
  return begun;
}

TEST(CallQueueTest, FirstComeIsFirstServedAndNoMoreThanThereIsRoom) {
  CallQueue queue{10, 2};
  for (CallId call = 1; call <= 4; ++call) queue.push(call, "a");
  EXPECT_THAT(all_next(queue), ElementsAre(1, 2));
  queue.release("a");
  EXPECT_THAT(all_next(queue), ElementsAre(3));
  EXPECT_EQ(queue.in_flight("a"), 2U);
}

TEST(CallQueueTest, AFullServerDoesNotDelayOthers) {
  CallQueue queue{10, 1};
  for (CallId call = 1; call <= 3; ++call) queue.push(call, "slow");
  queue.push(4, "quick");
  EXPECT_THAT(all_next(queue), ElementsAre(1, 4));
  queue.release("quick");
  queue.push(5, "quick");
  EXPECT_THAT(all_next(queue), ElementsAre(5));
}

TEST(CallQueueTest, ServersTakeTurnsIfTheTotalIsSmall) {
  CallQueue queue{2, 2};
  for (CallId call = 1; call <= 4; ++call) queue.push(call, "many");
  for (CallId call = 5; call <= 6; ++call) queue.push(call, "few");
  EXPECT_THAT(all_next(queue), ElementsAre(1, 5));
  queue.release("many");
  EXPECT_THAT(all_next(queue), ElementsAre(2));
  queue.release("many");
  EXPECT_THAT(all_next(queue), ElementsAre(6));
}

TEST(CallQueueTest, ARemovedCallLeavesNoGap) {
  CallQueue queue{1, 1};
  for (CallId call = 1; call <= 3; ++call) queue.push(call, "a");
  EXPECT_THAT(all_next(queue), ElementsAre(1));
  queue.remove(2, "a");
  queue.release("a");
  EXPECT_THAT(all_next(queue), ElementsAre(3));
  queue.push(4, "b");
  queue.remove(4, "b");
  queue.release("a");
  EXPECT_THAT(all_next(queue), IsEmpty());
  EXPECT_EQ(queue.in_flight(), 0U);
}

// Compares it with a simple model.
RC_GTEST_PROP(CallQueueTest, NoCallIsForgottenAndNoLimitIsExceeded, ()) {
  const std::size_t in_all = *rc::gen::inRange<std::size_t>(1, 6), per_server = *rc::gen::inRange<std::size_t>(1, 4);
  CallQueue queue{in_all, per_server};
  std::map<CallId, std::string> waiting, begun;
  CallId last = 0;
  const auto some = [](const auto& calls) {
    return *std::next(calls.begin(), *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(calls.size())));
  };
  for (const int command : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
    if (command <= 1) {
      const std::string server = *rc::gen::element<std::string>("a", "b", "c");
      queue.push(++last, server);
      waiting.emplace(last, server);
    } else if (command == 2 && !waiting.empty()) {
      const auto [call, server] = some(waiting);
      queue.remove(call, server);
      waiting.erase(call);
    } else if (command == 3 && !begun.empty()) {
      const auto [call, server] = some(begun);
      queue.release(server);
      begun.erase(call);
    }
    while (const auto call = queue.next()) {
      const auto node = waiting.extract(*call);
      RC_ASSERT(!node.empty());
      begun.emplace(*call, node.mapped());
    }
    std::map<std::string, std::size_t> count;
    for (const auto& [call, server] : begun) ++count[server];
    RC_ASSERT(begun.size() == queue.in_flight() && begun.size() <= in_all);
    for (const auto& [server, number] : count) RC_ASSERT(number == queue.in_flight(server) && number <= per_server);
    for (const auto& [call, server] : waiting) RC_ASSERT(begun.size() == in_all || count[server] == per_server);
  }
}

}  // namespace
}  // namespace easyretry::webhook
