// An engine with another number of shards runs the tasks of the former one after `easyretry reshard`.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry {
namespace {

using fault::kind_name;
using test::ServerKind;

class ReshardEngine : public fault::OnEachServer {
 protected:
  std::string url(const std::string& layout, int shards) const {
    return database.url() + "?layout=" + layout + "&shards=" + std::to_string(shards);
  }
  const test::TestDatabase database{GetParam()};
};
ON_EACH_SERVER(ReshardEngine);

TEST_P(ReshardEngine, EachTaskIsRunOnceByAnEngineWithTheNewNumber) {
  constexpr int kTasks = 200;
  const auto name = [](int number) { return "order-" + std::to_string(number); };
  {
    Engine before{url("hash(4)", 64)};
    auto pay = before.retryable("pay", [](int) {});
    for (int i = 0; i < kTasks; ++i) pay.with({.key = name(i)}).submit(i);
  }
  storage::reshard_store(url("hash(4)", 64), {.shards = 12});

  std::mutex mutex;
  std::map<int, int> runs;
  Engine after{url("hash(4)", 12)};
  auto pay = after.retryable("pay", [&](int number) {
    const std::lock_guard lock{mutex};
    ++runs[number];
  });
  for (int i = 0; i < kTasks; ++i) pay.with({.key = name(i)}).submit(i);  // each is there already
  after.start();
  EXPECT_TRUE(test::eventually([&] { return after.stats().succeeded >= kTasks; }));
  after.stop();
  ASSERT_EQ(runs.size(), static_cast<std::size_t>(kTasks));
  for (const auto& [number, count] : runs) EXPECT_EQ(count, 1) << number;
}

std::vector<int> shards_of(const Engine& engine) {
  std::vector<int> numbers;
  for (const ShardId shard : engine.cluster().shards) numbers.push_back(static_cast<int>(shard));
  return numbers;
}

// Tasks from before the change are still in shards 0 to 7.
TEST_P(ReshardEngine, EachMemberGetsItsPartOfTheOldShardsInBlocks) {
  EngineOptions options;
  options.assignment = Assignment::even;
  { Engine before{url("single", 8), options}; }
  storage::reshard_store(url("single", 8), {.shards = 16});
  storage::reshard_store(url("single", 16), {.shards = 24});

  Engine one{url("single", 24), options};
  Engine other{url("single", 24), options};
  for (Engine* engine : {&one, &other}) {
    engine->retryable("pay", [](int) {});
    engine->start();
  }
  const auto shared = [&] { return shards_of(one).size() == 12 && shards_of(other).size() == 12; };
  ASSERT_TRUE(test::eventually(shared));
  const std::vector<int> first{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19};
  const std::vector<int> second{4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23};
  EXPECT_THAT((std::vector{shards_of(one), shards_of(other)}), ::testing::UnorderedElementsAre(first, second));
}

}  // namespace
}  // namespace easyretry
