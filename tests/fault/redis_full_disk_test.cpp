// A Redis server whose disk is full: what it has in memory and could not write is not acknowledged.

#include <gtest/gtest.h>

#include <easyretry/easyretry.h>

#include "fault/thin_disk.h"
#include "storage/open.h"
#include "support/cutting_proxy.h"
#include "support/database_server.h"
#include "support/servers_tool.h"

namespace easyretry::fault {
namespace {

class FullDiskOfRedis : public ::testing::Test {
 protected:
  ~FullDiskOfRedis() override { test::order_server("remove", folder()); }

  std::filesystem::path folder() const { return disk_.path() / "redis"; }
  int start() const {
    return test::start_server("redis", folder(), " --no-sync");
  }  // it writes, and syncs every second
  void kill() const { test::order_server("kill", folder()); }

  static std::string url(int port) { return test::server_url(test::ServerKind::redis, port); }
  static bool knows(storage::Store& store, const std::string& key) {
    storage::TaskQuery query;
    query.name_space = "default";
    query.key = key;
    return !store.list(query).value().empty();
  }

  SmallDisk disk_{8};
  const int port_ = start();
};

TEST_F(FullDiskOfRedis, AnInsertThatIsOnlyInMemoryIsNotAcknowledged) {
  const auto store = storage::open_store(url(port_), system_clock());  // it does not open on a full disk
  test::CuttingProxy proxy{port_};
  Engine engine{url(proxy.port())};
  auto work = engine.retryable("work", [](const std::string&) {});
  work.with({.key = "before"}).submit(std::string(100, 'x'));

  disk_.fill();
  proxy.lose_reply_to("in memory alone");
  try {
    work.with({.key = "doubtful"}).submit(std::string(100'000, 'x') + "in memory alone");
    ADD_FAILURE() << "acknowledged";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), Errc::in_doubt) << error.what();
  }
  EXPECT_EQ(proxy.lost_replies(), 1U);
  EXPECT_TRUE(knows(*store, "doubtful")) << "no client could have taken it for stored";

  kill();
  disk_.free();
  ASSERT_EQ(start(), port_);
  const auto after = storage::open_store(url(port_), system_clock());
  EXPECT_TRUE(knows(*after, "before"));
  EXPECT_FALSE(knows(*after, "doubtful"));
}

}  // namespace
}  // namespace easyretry::fault
