// Outcomes that cannot be written at once.

#include "mxrmq/settler.h"

#include <future>
#include <latch>

#include "support/cutting_proxy.h"
#include "support/eventually.h"
#include "unit/mxrmq/support.h"

namespace easyretry::mxrmq {
namespace {

class ASettlerWithoutAServer : public QueueTest {
 protected:
  QueueOptions through_proxy() const {
    QueueOptions through = options();
    through.address.port = proxy.port();
    return through;
  }
  void the_server_goes() {
    proxy.refuse_new();
    proxy.cut_all();
  }
  Outcome completed_later() { return {.topic = std::string{kTopic}, .lease = claimed().lease, .json = {}}; }

  test::CuttingProxy proxy{test::shared_server_port(test::ServerKind::redis)};
  QueueConnection cut_off{through_proxy()};
  HeldMessages held;
  WorkerCounters counters;
  std::latch failed{1};
  LogSink log = [this](LogLevel level, std::string_view) {
    if (level == LogLevel::warning) failed.count_down();
  };
};

TEST_F(ASettlerWithoutAServer, WritesWhenTheServerIsBack) {
  produced();
  Settler settler{cut_off, held, counters, log, 1ms};
  the_server_goes();
  settler.add(completed_later());
  failed.wait();
  EXPECT_EQ(counters.completed, 0);
  proxy.accept_new();
  EXPECT_TRUE(test::eventually([&] { return counters.completed == 1; }));
  expect_nothing_left();
}

TEST_F(ASettlerWithoutAServer, EndsItsPauseWhenItIsStopped) {
  produced();
  Settler settler{cut_off, held, counters, log, 1h};
  the_server_goes();
  settler.add(completed_later());
  failed.wait();
  auto stopped = std::async(std::launch::async, [&] { settler.stop(); });
  EXPECT_EQ(stopped.wait_for(20s), std::future_status::ready);
}

}  // namespace
}  // namespace easyretry::mxrmq
