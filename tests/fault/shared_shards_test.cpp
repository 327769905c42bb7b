// Processes that come and go on one database: the shards are always somebody's, in equal shares.

#include <iostream>

#include <gmock/gmock.h>

#include "fault/each_server.h"
#include "fault/equal_shares.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

constexpr int kTasksPerLife = 300;

class SharedShards : public OnEachServer {
 protected:
  void start(int processes) {
    for (int i = 0; i < processes; ++i) crew_.start(kTasksPerLife);
  }
  void kill(int processes) {
    for (int i = 0; i < processes; ++i) crew_.kill(crew_.alive().front());
  }

  std::vector<int> shares() { return shares_of(store_->members("default").value().members); }
  void expect_equal_shares(int processes) {
    EXPECT_TRUE(test::eventually([&] { return shares() == equal_shares(processes); }))
        << processes << " processes have " << ::testing::PrintToString(shares());
  }

  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  Crew crew_{database_.url()};
};

ON_EACH_SERVER(SharedShards);
ON_REDIS(SharedShards);

TEST_P(SharedShards, AreDividedAnewWheneverAProcessComesOrIsKilledAndNothingIsLost) {
  start(4);
  expect_equal_shares(4);
  kill(1);
  expect_equal_shares(3);
  start(5);
  expect_equal_shares(8);
  kill(6);
  expect_equal_shares(2);
  crew_.kill_all();
  ASSERT_TRUE(crew_.finish());
  const Verdict verdict = judge(*store_, crew_);
  std::cout << crew_.deaths().size() << " kills: " << verdict << "\n";
}

}  // namespace
}  // namespace easyretry::fault
