// A server whose disk hangs shows rows that it has not flushed. A client that finds its task there after a lost reply
// waits for the disk.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include <gtest/gtest.h>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "storage/open.h"
#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

// The environment of the server that is started next.
class HangingDisk {
 public:
  HangingDisk() {
    using std::filesystem::perms;  // the server is another user
    std::filesystem::permissions(folder_.path(), perms::others_exec, std::filesystem::perm_options::add);
    ::setenv("LD_PRELOAD", HUNG_SYNC_PRELOAD, 1);
    ::setenv("HUNG_SYNC", file_.c_str(), 1);
  }
  ~HangingDisk() {
    go_on();
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("HUNG_SYNC");
  }
  HangingDisk(const HangingDisk&) = delete;
  HangingDisk& operator=(const HangingDisk&) = delete;

  void hang() const { std::ofstream{file_} << "hang"; }
  void go_on() const { std::filesystem::remove(file_); }

 private:
  const test::TempFolder folder_;
  const std::string file_ = (folder_.path() / "hang").string();
};

TEST(HungFlush, ATaskThatMariadbShowsBeforeItsFlushIsNotAcknowledged) {
  const HangingDisk disk;
  test::DatabaseServer server{ServerKind::mariadb};
  test::CuttingProxy proxy{server.port()};
  Engine engine{test::server_url(ServerKind::mariadb, proxy.port()), {.log = nullptr}};  // never started
  const auto pay = engine.retryable("pay", [](int) {});
  const auto store = storage::open_store(server.url(), system_clock());
  // The server has opened all its tables, which may wait for a sync.
  for (int i = 0; i < 20; ++i) {
    pay.submit(i);
    ASSERT_EQ(store->list({.key = pay.key_of(i)}).value().size(), 1U);
  }

  disk.hang();
  auto stored = std::async(std::launch::async, [&] { return pay.with({.key = "k"}).submit(0); });
  ASSERT_TRUE(test::eventually([&] { return store->list({.key = "k"}).value().size() == 1; }))
      << "the row is not shown before it is flushed: nothing to be afraid of";
  proxy.cut_all();
  EXPECT_EQ(stored.wait_for(2s), std::future_status::timeout) << "acknowledged, and not on the disk";
  disk.go_on();
  EXPECT_EQ(stored.get(), store->list({.key = "k"}).value().at(0).info.id);
}

}  // namespace
}  // namespace easyretry::fault
