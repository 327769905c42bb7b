// What an engine with one number of shards left behind, and one with another number after `easyretry reshard`.

#include <map>
#include <mutex>
#include <string>

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

}  // namespace
}  // namespace easyretry
