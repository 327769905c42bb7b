#include "webhook/places.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace easyretry::webhook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<CallId> all_next(Places& places) {
  std::vector<CallId> begun;
  while (const auto call = places.next()) begun.push_back(*call);
  return begun;
}

TEST(InLine, FirstComeIsFirstServedAndNoMoreThanThereIsRoom) {
  Places places{10, 2};
  for (CallId call = 1; call <= 4; ++call) places.wait(call, "a");
  EXPECT_THAT(all_next(places), ElementsAre(1, 2));
  places.leave("a");
  EXPECT_THAT(all_next(places), ElementsAre(3));
  EXPECT_EQ(places.begun("a"), 2U);
}

TEST(InLine, AFullServerHoldsUpNobodyElse) {
  Places places{10, 1};
  for (CallId call = 1; call <= 3; ++call) places.wait(call, "slow");
  places.wait(4, "quick");
  EXPECT_THAT(all_next(places), ElementsAre(1, 4));
  places.leave("quick");
  places.wait(5, "quick");
  EXPECT_THAT(all_next(places), ElementsAre(5));
}

TEST(InLine, ServersTakeTurnsWhereThereIsRoomForFew) {
  Places places{2, 2};
  for (CallId call = 1; call <= 4; ++call) places.wait(call, "many");
  for (CallId call = 5; call <= 6; ++call) places.wait(call, "few");
  EXPECT_THAT(all_next(places), ElementsAre(1, 5));
  places.leave("many");
  EXPECT_THAT(all_next(places), ElementsAre(2));
  places.leave("many");
  EXPECT_THAT(all_next(places), ElementsAre(6));
}

TEST(InLine, WhoGivesUpLeavesNoGap) {
  Places places{1, 1};
  for (CallId call = 1; call <= 3; ++call) places.wait(call, "a");
  EXPECT_THAT(all_next(places), ElementsAre(1));
  places.give_up(2, "a");
  places.leave("a");
  EXPECT_THAT(all_next(places), ElementsAre(3));
  places.wait(4, "b");
  places.give_up(4, "b");
  places.leave("a");
  EXPECT_THAT(all_next(places), IsEmpty());
  EXPECT_EQ(places.begun(), 0U);
}

// Against a plain account of who is where.
RC_GTEST_PROP(InLine, NobodyIsForgottenAndNoLimitIsPassed, ()) {
  const std::size_t in_all = *rc::gen::inRange<std::size_t>(1, 6), per_server = *rc::gen::inRange<std::size_t>(1, 4);
  Places places{in_all, per_server};
  std::map<CallId, std::string> waiting, begun;
  CallId last = 0;
  const auto some = [](const auto& calls) {
    return *std::next(calls.begin(), *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(calls.size())));
  };
  for (const int command : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
    if (command <= 1) {
      const std::string server = *rc::gen::element<std::string>("a", "b", "c");
      places.wait(++last, server);
      waiting.emplace(last, server);
    } else if (command == 2 && !waiting.empty()) {
      const auto [call, server] = some(waiting);
      places.give_up(call, server);
      waiting.erase(call);
    } else if (command == 3 && !begun.empty()) {
      const auto [call, server] = some(begun);
      places.leave(server);
      begun.erase(call);
    }
    while (const auto call = places.next()) {
      const auto node = waiting.extract(*call);
      RC_ASSERT(!node.empty());
      begun.emplace(*call, node.mapped());
    }
    std::map<std::string, std::size_t> count;
    for (const auto& [call, server] : begun) ++count[server];
    RC_ASSERT(begun.size() == places.begun() && begun.size() <= in_all);
    for (const auto& [server, number] : count) RC_ASSERT(number == places.begun(server) && number <= per_server);
    for (const auto& [call, server] : waiting) RC_ASSERT(begun.size() == in_all || count[server] == per_server);
  }
}

}  // namespace
}  // namespace easyretry::webhook
