// Leftovers are found and repaired, and healthy messages are left alone.

#include "mxrmq/fsck.h"

#include "mxrmq/settler.h"
#include "support/manual_pauses.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

class AnFsck : public QueueTest {
 protected:
  Texts findings(bool repair = false, const std::string& options = "?prefix=shop") {
    Texts all;
    FsckOptions fsck_options{.repair = repair, .pauses = &pauses};
    fsck_options.tell = [&](const Finding& found) {
      all.push_back(std::string{to_string(found.kind)} + " " + found.id + " " + found.topic);
    };
    report = fsck(url(options), fsck_options);
    EXPECT_EQ(report.findings, static_cast<std::int64_t>(all.size()));
    std::ranges::sort(all);
    return all;
  }

  test::ManualPauses pauses;
  FsckReport report;
};

TEST_F(AnFsck, LeavesAHealthyQueueAlone) {
  for (const char* id : {"pending", "leased", "python", "retried"}) produced(id);
  EXPECT_TRUE(retried(claimed()));
  claimed();
  python_takes();
  ASSERT_TRUE(produce_delayed(link, a_message("delayed"), 5s));
  produced("dead");
  EXPECT_TRUE(buried(claimed()));
  EXPECT_THAT(findings(true), IsEmpty());
  EXPECT_EQ(report.messages, 5);
  EXPECT_THAT(pauses.taken(), IsEmpty());
}

// 1.11, 1: timed out by a process that died before it stored the next step.
TEST_F(AnFsck, AnOrphanIsPendingAgain) {
  produced();
  python_takes();
  python_leases("m1");
  python_times_out("m1");
  EXPECT_THAT(findings(), ElementsAre("orphan m1 "));
  EXPECT_THAT(findings(), ElementsAre("orphan m1 ")) << "only looking changes nothing";
  EXPECT_THAT(findings(true), ElementsAre("orphan m1 orders"));
  EXPECT_THAT(findings(), IsEmpty());
  EXPECT_TRUE(completed(claimed().lease));
}

// 1.11, 3: dropped by Python's promotion, because its topic was gone; the body stays for ever.
TEST_F(AnFsck, ABodyWithoutATopicIsPendingInTheTopicThatItNames) {
  run({"HSET", "shop:payloads", "m1", to_json(a_message())});
  EXPECT_THAT(findings(true), ElementsAre("orphan m1 orders"));
  EXPECT_EQ(text({"HGET", "shop:payloads", "m1:queue"}), "shop:orders");
  EXPECT_TRUE(completed(claimed().lease));
  expect_nothing_left();
}

// 1.11, 4: its parse error could not be stored.
TEST_F(AnFsck, AnUnreadableBodyIsSetAside) {
  run({"HSET", "shop:payloads", "m1", "{broken", "m1:queue", "shop:orders"});
  EXPECT_THAT(findings(true), ElementsAre("unreadable orphan m1 "));
  EXPECT_THAT(list("errors"), ElementsAre("m1"));
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(AnFsck, DoublesInPendingBecomeOneWhichKeepsItsPlace) {
  produced("a");
  produced("b");
  run({"LPUSH", "shop:orders:pending", "a"});
  run({"LPUSH", "shop:orders:pending", "a"});
  EXPECT_THAT(findings(), ElementsAre("pending twice a orders"));
  EXPECT_THAT(list("orders:pending"), SizeIs(4));
  EXPECT_THAT(findings(true), ElementsAre("pending twice a orders"));
  EXPECT_THAT(list("orders:pending"), ElementsAre("b", "a"));
}

TEST_F(AnFsck, TopicsOfMissingMessagesAreRemoved) {
  run({"HSET", "shop:payloads", "gone:queue", "shop:orders"});
  run({"HSET", "shop:dlq:data", "requeued:queue", "shop:orders"});
  EXPECT_THAT(findings(),
              ElementsAre("topic without dead letter requeued orders", "topic without message gone orders"));
  EXPECT_EQ(number({"EXISTS", "shop:payloads", "shop:dlq:data"}), 2);
  EXPECT_THAT(findings(true), SizeIs(2));
  EXPECT_EQ(number({"EXISTS", "shop:payloads", "shop:dlq:data"}), 0);
}

TEST_F(AnFsck, OurLeasesOfMessagesThatPythonHasEndedAreRemoved) {
  produced();
  claimed();
  run({"HSET", "shop:cxx:lost", "m1", "1"});
  python_completes("m1");
  EXPECT_THAT(findings(), ElementsAre("lease without message m1 "));
  EXPECT_THAT(findings(true), SizeIs(1));
  expect_nothing_left();
}

TEST_F(AnFsck, ManyAreFoundInSlices) {
  for (int i = 0; i < 1'500; ++i) {
    const std::string id = "id-" + std::to_string(i);
    run({"HSET", "shop:payloads", id, to_json(a_message(id)), id + ":queue", "shop:orders"});
    if (i % 10 != 0) run({"LPUSH", "shop:orders:pending", id});
  }
  EXPECT_THAT(findings(true), SizeIs(150));
  EXPECT_EQ(report.messages, 1'500);
  EXPECT_THAT(list("orders:pending"), SizeIs(1'500));
  EXPECT_THAT(findings(), IsEmpty());
}

// Python moves a message in two steps, and continues during the grace.
TEST_F(AnFsck, AMessageThatIsHeldAfterTheGraceIsNoOrphan) {
  produced();
  python_takes();
  python_times_out("m1");
  pauses.during = [&] { python_retries("m1", to_json(a_message())); };
  EXPECT_THAT(findings(true), IsEmpty());
  EXPECT_THAT(pauses.taken(), ElementsAre(5s));
  EXPECT_THAT(list("orders:pending"), IsEmpty());
}

}  // namespace
}  // namespace easyretry::mxrmq
