// Processes that come and go on one database: every shard always has an owner, in equal shares.

#include <iostream>

#include "fault/each_server.h"
#include "fault/shares.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

constexpr int kTasksPerLife = 300;

class SharedShards : public OnEachServer {
 protected:
  void expect_equal_shares(int processes, const std::string& after) {
    fault::expect_equal_shares(processes, members_in(*store_), after);
  }

  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
  Crew crew_{database_.url()};
};

ON_EACH_SERVER(SharedShards);
ON_REDIS(SharedShards);

TEST_P(SharedShards, AreDividedAnewWhenProcessesStartOrAreKilledAndNothingIsLost) {
  crew_.start_some(4, kTasksPerLife);
  expect_equal_shares(4, "started 4");
  crew_.kill_oldest(1);
  expect_equal_shares(3, "killed 1");
  crew_.start_some(5, kTasksPerLife);
  expect_equal_shares(8, "started 5");
  crew_.kill_oldest(6);
  expect_equal_shares(2, "killed 6");
  ASSERT_TRUE(crew_.finish());
  std::cout << judge(*store_, crew_) << "\n";
}

}  // namespace
}  // namespace easyretry::fault
