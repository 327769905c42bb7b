// A worker whose connections are cut at random, most often when the server has done what it was asked and before its
// answer arrives.

#include <iostream>

#include "fault/each_server.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;
using test::Direction;

constexpr int kTasks = 3'000;
constexpr double kLost = 0.02;  // of all replies
constexpr std::size_t kEventsBetweenCuts = 200;
constexpr std::size_t kMostBytesBeforeACut = 4'000;

class CutConnections : public OnEachServer {
 protected:
  void cut_somehow() {
    switch (dice_.up_to(3)) {
      case 0: return proxy_.cut_all();
      case 1: return proxy_.cut_after(Direction::to_server, dice_.up_to(kMostBytesBeforeACut));
      case 2: return proxy_.cut_after(Direction::to_client, dice_.up_to(kMostBytesBeforeACut));
      default: return proxy_.lose_reply_to(commit_request(GetParam()));
    }
  }

  Dice dice_;
  const test::TestDatabase database_{GetParam()};
  test::CuttingProxy proxy_{test::shared_server_port(GetParam()), dice_.seed()};
  Crew crew_{in_the_clear(GetParam(), database_.url_through(proxy_.port()))};
};

ON_EACH_SERVER(CutConnections);
ON_REDIS(CutConnections);

TEST_P(CutConnections, LoseNothingEndNothingTwiceAndStoreDoubtfulTasksAtMostOnce) {
  SCOPED_TRACE(dice_.trace());
  const int worker = crew_.start(kTasks);
  ASSERT_TRUE(test::eventually([&] { return crew_.submitted() > 0; })) << "it never came to work";

  proxy_.lose_replies(kLost);
  int cuts = 0;
  for (std::size_t next = 0; crew_.submitted() < kTasks; next += kEventsBetweenCuts, ++cuts) {
    ASSERT_TRUE(test::eventually([&] { return crew_.events_written() >= next || crew_.submitted() == kTasks; }, 60s));
    cut_somehow();
  }
  proxy_.lose_replies(0);

  const auto store = storage::open_store(database_.url(), system_clock());
  ASSERT_TRUE(test::eventually([&] { return all_done(*store); }, 60s));
  crew_.kill(worker);
  const Verdict verdict = judge(*store, crew_);
  EXPECT_GE(verdict.acked, kTasks / 2);
  EXPECT_GE(proxy_.lost_replies(), 20U);
  std::cout << cuts << " cuts, " << proxy_.lost_replies() << " replies lost: " << verdict << "\n";
}

}  // namespace
}  // namespace easyretry::fault
