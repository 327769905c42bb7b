#include "server/error_groups.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct ErrorGroupsTest : ::testing::Test {
  void add(std::int64_t id, const std::string& handler, const std::string& error) {
    TaskInfo task;
    task.id = TaskId{id};
    task.handler = handler;
    task.last_error = error;
    groups.add(task, TimePoint{Millis{id}});
  }

  static constexpr TimePoint kNow{std::chrono::hours{100}};
  ErrorGroups groups{kNow};
};

TEST_F(ErrorGroupsTest, TheLargestComesFirstWithItsTimesHandlersAndNewestTasks) {
  for (const int id : {4, 9, 2, 7, 5, 3}) add(id, id % 2 == 0 ? "mail" : "pay", "no user " + std::to_string(id));
  add(1, "mail", "timeout");
  const auto all = groups.largest(10);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].kind, "no user <number>");
  EXPECT_EQ(all[0].count, 6);
  EXPECT_EQ(all[0].first_seen, TimePoint{Millis{2}});
  EXPECT_EQ(all[0].last_seen, TimePoint{Millis{9}});
  EXPECT_THAT(all[0].handlers, ElementsAre("mail", "pay"));
  EXPECT_THAT(all[0].ids, ElementsAre(TaskId{9}, TaskId{7}, TaskId{5}, TaskId{4}, TaskId{3}));
  EXPECT_EQ(groups.largest(1).size(), 1U);
}

TEST_F(ErrorGroupsTest, TheLastDayIsCountedByHour) {
  const auto ago = [this](Millis age) { add((kNow - age).time_since_epoch().count(), "mail", "timeout"); };
  for (const Millis age : {Millis{-5}, Millis{0}, Millis{59min}, Millis{60min}, Millis{24h - 1ms}, Millis{24h}})
    ago(age);
  const ErrorGroup group = groups.largest(1).at(0);
  EXPECT_EQ(group.count, 6);
  EXPECT_EQ(group.by_hour.back(), 3) << "one of them is to come, by a clock that runs ahead";
  EXPECT_EQ(group.by_hour[22], 1);
  EXPECT_EQ(group.by_hour.front(), 1);
  EXPECT_EQ(std::reduce(group.by_hour.begin(), group.by_hour.end()), 5);
}

TEST_F(ErrorGroupsTest, KindsBeyondTheBoundShareAGroup) {
  const auto word = [](std::size_t i) {
    return std::string{static_cast<char>('a' + i / 26 / 26), static_cast<char>('a' + i / 26 % 26),
                       static_cast<char>('a' + i % 26), 'z'};
  };
  for (std::size_t i = 0; i < ErrorGroups::kMostKinds + 7; ++i) add(static_cast<std::int64_t>(i), "mail", word(i));
  const auto all = groups.largest(2000);
  EXPECT_EQ(all.size(), ErrorGroups::kMostKinds + 1);
  EXPECT_EQ(all[0].kind, ErrorGroups::kOthers);
  EXPECT_EQ(all[0].count, 7);
}

}  // namespace
}  // namespace easyretry::server
