// Connections that break at the worst moment: a verb says honestly what it knows, and may be sent again.

#include <thread>

#include <gmock/gmock.h>

#include "fault/store_through_proxy.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LostReply : public StoreThroughProxy {};
ON_EACH_SERVER(LostReply);
ON_REDIS(LostReply);

TEST_P(LostReply, OfACommittedInsertLeavesItInDoubtAndThere) {
  const task::NewTask task = test::a_task().key("pay:1");
  proxy_.lose_reply_to(commit_request(GetParam()));
  const auto reply = insert(*store_, task);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt) << to_string(reply.error());
  const auto there = look("pay:1");
  ASSERT_THAT(there, SizeIs(1));
  EXPECT_THAT(reply.error().ids, ElementsAre(there[0].info.id)) << "by which it is known again";

  const auto again = insert(*store_, task).value();
  EXPECT_FALSE(again.tasks[0].created);
  EXPECT_EQ(again.tasks[0].id, there[0].info.id);
  EXPECT_THAT(look("pay:1"), SizeIs(1));
}

// Several callers are stored together: each is told of its own.
TEST_P(LostReply, OfInsertsThatWereStoredTogetherNamesThoseOfEach) {
  constexpr int kCallers = 8;
  for (int round = 0; round < 10; ++round) {
    proxy_.lose_reply_to(commit_request(GetParam()));
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, key = std::to_string(round) + "/" + std::to_string(caller)] {
        const auto reply = insert(*store_, test::a_task().key(key));
        if (reply) return;
        EXPECT_EQ(reply.error().code, Errc::in_doubt) << to_string(reply.error());
        EXPECT_THAT(reply.error().ids, SizeIs(1));
        for (const auto& record : look(key)) EXPECT_THAT(reply.error().ids, ElementsAre(record.info.id));
      });
    }
  }
}

TEST_P(LostReply, OfACommittedClaimLeavesItInDoubtAndOurs) {
  const storage::Ticket ticket = stored("pay:1");
  proxy_.lose_reply_to(commit_request(GetParam()));
  const auto reply = claim(ticket, "worker-7");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt) << to_string(reply.error());
  const auto there = look("pay:1");
  ASSERT_THAT(there, SizeIs(1));
  EXPECT_EQ(there[0].info.state, TaskState::running);
  EXPECT_EQ(there[0].locked_by, "worker-7");
  EXPECT_EQ(there[0].info.version, ticket.version + 1);
  EXPECT_EQ(there[0].info.deliveries, 1);

  EXPECT_THAT(claim(ticket, "worker-7").value().won, IsEmpty());
  EXPECT_EQ(look("pay:1").at(0).info.deliveries, 1);
}

TEST_P(LostReply, OfACommittedSettleLeavesItInDoubtAndDone) {
  const storage::Ticket ticket = claimed("pay:1");
  proxy_.lose_reply_to(commit_request(GetParam()));
  const auto reply = settle(ticket, "no money");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt) << to_string(reply.error());
  EXPECT_THAT(look("pay:1"), IsEmpty());
  EXPECT_THAT(look("pay:1", true), SizeIs(1));

  EXPECT_THAT(settle(ticket, "no money").value().applied, ElementsAre(false));
  EXPECT_THAT(look("pay:1", true), SizeIs(1));
}

// Not for Redis, where a call is its own commit and its result is in the reply.
class LostReplyInATransaction : public LostReply {};
ON_EACH_SERVER(LostReplyInATransaction);

TEST_P(LostReplyInATransaction, BeforeTheCommitIsMadeGoodByAnotherTry) {
  proxy_.lose_reply_to("pay:1");
  EXPECT_TRUE(insert(*store_, test::a_task().key("pay:1")).value().tasks[0].created);
  EXPECT_THAT(look("pay:1"), SizeIs(1));

  const storage::Ticket ticket = stored("pay:2");
  proxy_.lose_reply_to("worker-7");
  const auto won = claim(ticket, "worker-7").value().won;
  ASSERT_THAT(won, SizeIs(1));
  EXPECT_EQ(won[0].info.deliveries, 1);
  EXPECT_EQ(won[0].info.version, ticket.version + 1);

  proxy_.lose_reply_to("no money");
  EXPECT_THAT(settle({won[0].info.id, won[0].info.version}, "no money").value().applied, ElementsAre(true));
  EXPECT_THAT(look("pay:2", true), SizeIs(1));
  EXPECT_EQ(proxy_.lost_replies(), 3U);
}

TEST_P(LostReplyInATransaction, OfAnInsertThatMetAnotherTaskNamesNoId) {
  const storage::Ticket there = stored("pay:1");
  task::NewTask task = test::a_task().key("pay:1");
  task.on_duplicate = OnDuplicate::update_policy;
  proxy_.lose_reply_to(commit_request(GetParam()));
  const auto reply = insert(*store_, task);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt);
  EXPECT_THAT(reply.error().ids, ElementsAre(TaskId{}));
  EXPECT_EQ(look("pay:1").at(0).info.id, there.id);
}

TEST_P(LostReply, WithoutAServerToAskMeansThatNothingWasDone) {
  const storage::Ticket free = stored("pay:2");
  const storage::Ticket held = claimed("pay:3");
  proxy_.refuse_new();
  proxy_.cut_all();
  EXPECT_EQ(insert(*store_, test::a_task().key("pay:1")).error().code, Errc::unavailable);
  EXPECT_EQ(claim(free, "worker-7").error().code, Errc::unavailable);
  EXPECT_EQ(settle(held, "no money").error().code, Errc::unavailable);

  EXPECT_THAT(look("pay:1"), IsEmpty());
  EXPECT_EQ(look("pay:2").at(0).info.state, TaskState::pending);
  EXPECT_EQ(look("pay:3").at(0).info.version, held.version);
}

class CutAnywhere : public StoreThroughProxy {
 protected:
  // Answers are true; tasks without an answer are not sent again.
  void live_through(const std::string& key) {
    const auto inserted = insert(*store_, test::a_task().key(key));
    const auto there = look(key);
    expect_honest(inserted, there.size());
    if (there.empty()) return;

    const storage::Ticket ticket{there[0].info.id, there[0].info.version};
    auto won = claim(ticket, key);
    // Passed over while the server holds it for a connection of which it has not noticed that it was cut.
    test::eventually([&] {
      if (won && won->won.empty()) won = claim(ticket, key);
      return !won || !won->won.empty();
    });
    if (won) {
      EXPECT_THAT(won->won, SizeIs(1));
    }
    const int deliveries = look(key).at(0).info.deliveries;
    expect_honest(won, static_cast<std::size_t>(deliveries));
    if (deliveries == 0) return;

    const auto settled = settle({ticket.id, ticket.version + 1}, key);
    if (settled) {
      EXPECT_THAT(settled->applied, ElementsAre(true));
    }
    expect_honest(settled, look(key, true).size());
  }

 private:
  template <class Answer>
  void expect_honest(const Answer& answer, std::size_t done) {
    EXPECT_LE(done, 1U) << "done twice";
    if (answer) {
      EXPECT_EQ(done, 1U) << "answered and not done";
    } else if (answer.error().code == Errc::unavailable) {
      EXPECT_EQ(done, 0U) << "done, and said not to be: " << to_string(answer.error());
    } else {
      EXPECT_EQ(answer.error().code, Errc::in_doubt) << to_string(answer.error());
    }
  }
};
ON_EACH_SERVER(CutAnywhere);
ON_REDIS(CutAnywhere);

// An insert, a claim and a settle are about 4,000 bytes each way.
TEST_P(CutAnywhere, EveryAnswerIsTrue) {
  for (const auto direction : {test::Direction::to_server, test::Direction::to_client}) {
    for (std::size_t bytes = 0; bytes < 4000; bytes += 97) {
      const std::string key = (direction == test::Direction::to_server ? "there:" : "back:") + std::to_string(bytes);
      SCOPED_TRACE(key);
      proxy_.cut_after(direction, bytes);
      live_through(key);
    }
  }
}

}  // namespace
}  // namespace easyretry::fault
