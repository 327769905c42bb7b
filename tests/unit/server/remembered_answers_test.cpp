#include "server/remembered_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Seen = RememberedAnswers::Seen;

struct Remembered : ::testing::Test {
  // Puts the first id, or the error, into `heard`.
  Seen ask(const std::string& key, const std::string& body = "{}", const std::string& token = "ann") {
    return answers.ask({token, key}, body, [this](const RememberedAnswers::Answer& answer) {
      heard.push_back(answer ? to_string(answer->at(0).id) : std::string{to_string(answer.error().code)});
    });
  }
  static RememberedAnswers::Answer stored(int id, std::size_t tasks = 1) {
    return std::vector<storage::Inserted>(tasks, {.id = TaskId{id}});
  }
  void answer(const std::string& key, const RememberedAnswers::Answer& with) { answers.answered({"ann", key}, with); }

  easyretry::testing::ManualClock clock;
  RememberedAnswers answers{clock, {.age = 5min, .names = 3, .tasks = 10}};
  std::vector<std::string> heard;
};

TEST_F(Remembered, TheSameAgainGetsTheSameAnswer) {
  EXPECT_EQ(ask("a"), Seen::never);
  answer("a", stored(7));
  EXPECT_EQ(ask("a"), Seen::before);
  EXPECT_THAT(heard, ElementsAre("7", "7"));
}

TEST_F(Remembered, ARepetitionWaitsWhileTheFirstRequestIsInFlight) {
  EXPECT_EQ(ask("a"), Seen::never);
  EXPECT_EQ(ask("a"), Seen::before);
  EXPECT_THAT(heard, IsEmpty());
  answer("a", stored(7));
  EXPECT_THAT(heard, ElementsAre("7", "7"));
}

TEST_F(Remembered, RefusalsAndDoubtsAreAnswersAndTroubleIsNot) {
  for (const Errc code : {Errc::already_exists, Errc::in_doubt, Errc::invalid_argument, Errc::unavailable}) {
    const std::string key{to_string(code)};
    ask(key);
    answer(key, fail(code, "store", "no"));
    EXPECT_EQ(ask(key), code == Errc::unavailable ? Seen::never : Seen::before) << key;
  }
}

TEST_F(Remembered, NamesAreOfATokenAndOfOneRequest) {
  ask("a", "{}", "ann");
  EXPECT_EQ(ask("a", "{}", "bob"), Seen::never);
  EXPECT_EQ(ask("a", "[]", "ann"), Seen::different);
  answer("a", stored(7));
  EXPECT_EQ(ask("a", "[]", "ann"), Seen::different);
}

TEST_F(Remembered, ARefusedSubmissionMayBeTriedAgain) {
  ask("a");
  ask("a");
  answers.forget({"ann", "a"});
  EXPECT_THAT(heard, ElementsAre(to_string(Errc::unavailable))) << "the first one knows";
  EXPECT_EQ(ask("a"), Seen::never);
}

TEST_F(Remembered, MemoryIsBoundedAndSaysHowFarItReaches) {
  clock.advance(1min);
  EXPECT_EQ(answers.reach(), 1min);
  for (const std::string key : {"a", "b", "c"}) {
    ask(key);
    answer(key, stored(1));
    clock.advance(1s);
  }
  EXPECT_EQ(answers.reach(), 1min + 3s);
  ask("d");
  EXPECT_EQ(ask("a"), Seen::before) << "a request in flight takes no room";
  answer("d", stored(1));
  EXPECT_EQ(answers.reach(), 3s);
  EXPECT_EQ(ask("a"), Seen::never);
  EXPECT_EQ(ask("b"), Seen::before);
  answers.forget({"ann", "a"});

  ask("many");
  answer("many", stored(1, 10));
  EXPECT_EQ(ask("d"), Seen::never) << "its tasks have taken all the room";
  EXPECT_EQ(answers.reach(), 0s);
}

TEST_F(Remembered, AfterAWhileItIsForgotten) {
  ask("a");
  answer("a", stored(1));
  clock.advance(6min);
  EXPECT_EQ(answers.reach(), 6min) << "as long as nothing else came";
  ask("b");
  answer("b", stored(1));
  EXPECT_EQ(ask("a"), Seen::never);
  EXPECT_EQ(answers.reach(), 6min);
}

}  // namespace
}  // namespace easyretry::server
