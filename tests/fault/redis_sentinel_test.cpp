// A primary is killed under load, and sentinels make its replica the primary.

#include <fstream>
#include <iostream>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fault/child.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/database_server.h"
#include "support/eventually.h"
#include "support/plain_redis.h"
#include "support/plain_sql.h"
#include "support/temp_folder.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;
using test::DatabaseServer;
using test::PlainRedis;
using test::ServerKind;

int free_port() {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(probe);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(address.sin_port);
}

// Alone, it decides alone.
class Sentinel {
 public:
  explicit Sentinel(int primary) {
    std::ofstream config{folder_.path() / "sentinel.conf"};
    config << "bind 127.0.0.1\nport " << port_ << "\nlogfile " << (folder_.path() / "log").string()
           << "\nsentinel monitor shop 127.0.0.1 " << primary << " 1\nsentinel down-after-milliseconds shop 1000\n";
    config.close();
    process_ = std::make_unique<Child>(
        "/usr/bin/env",
        std::vector<std::string>{"redis-server", (folder_.path() / "sentinel.conf").string(), "--sentinel"});
  }
  int port() const { return port_; }

 private:
  const test::TempFolder folder_;
  const int port_ = free_port();
  std::unique_ptr<Child> process_;
};

bool says(int port, const std::string& words) {
  try {
    return PlainRedis{port}.run({"INFO", "replication"}).find(words) != std::string::npos;
  } catch (const test::SqlError&) {
    return false;
  }
}

class RedisBehindSentinels : public ::testing::Test {
 protected:
  RedisBehindSentinels() {
    PlainRedis{replica_.port()}.run({"REPLICAOF", "127.0.0.1", std::to_string(primary_.port())});
    if (!test::eventually([&] { return says(replica_.port(), "master_link_status:up"); })) {
      throw std::runtime_error("the replica does not come up");
    }
  }

  DatabaseServer primary_{ServerKind::redis};
  DatabaseServer replica_{ServerKind::redis};
  Sentinel sentinel_{primary_.port()};
  const std::string hosts_ =
      "redis+sentinel://easyretry:secret@127.0.0.1:1,127.0.0.1:" + std::to_string(sentinel_.port());
};

TEST_F(RedisBehindSentinels, LosesNothingWhenThePrimaryIsKilledAndTheReplicaTakesOver) {
  constexpr int kTasks = 1'500;
  const std::string url = hosts_ + "/shop?wait=1&wait_ms=500";
  std::unique_ptr<storage::Store> store;
  ASSERT_TRUE(test::eventually([&] {
    try {
      store = storage::open_store(url, system_clock());
    } catch (const StoreError&) {
      return false;  // the sentinel is not up yet
    }
    return true;
  }));
  Crew crew{url};
  crew.start(kTasks);
  ASSERT_TRUE(test::eventually([&] { return crew.submitted() >= kTasks / 3; }, 60s));
  ASSERT_TRUE(test::eventually([&] { return says(primary_.port(), "connected_slaves:1"); }));
  primary_.kill();
  ASSERT_TRUE(test::eventually([&] { return says(replica_.port(), "role:master"); }, 60s)) << "no failover";
  primary_.start();  // the sentinel makes it a replica, which wait=1 waits for
  ASSERT_TRUE(test::eventually([&] { return crew.submitted() == kTasks && all_done(*store); }, 120s));
  crew.kill_all();
  const Verdict verdict = judge(*store, crew);
  EXPECT_GE(verdict.acked, kTasks / 4);
  std::cout << verdict << "\n";
}

TEST_F(RedisBehindSentinels, AnUnknownServiceIsRefusedWithTheRightUrl) {
  std::string said;
  ASSERT_TRUE(test::eventually([&] {
    try {
      storage::open_store(hosts_ + "/shp", system_clock());
    } catch (const StoreError& error) {
      said = error.what();
    }
    return said.find("knows no service") != std::string::npos;
  })) << said;
  EXPECT_NE(said.find("\"shp\""), std::string::npos);
  EXPECT_THROW(storage::open_store(hosts_, system_clock()), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::fault
