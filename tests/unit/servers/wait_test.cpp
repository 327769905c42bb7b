// An instance that runs nothing waits for a task that another one runs.

#include <gmock/gmock.h>

#include <easyretry/engine.h>

#include "fault/each_server.h"
#include "support/test_database.h"

namespace easyretry {
namespace {

using fault::kind_name;
using fault::OnEachServer;
using test::ServerKind;
using namespace std::chrono_literals;

class WaitOnAServer : public OnEachServer {
 protected:
  static EngineOptions quiet() {
    EngineOptions options;
    options.log = nullptr;
    return options;
  }

  const test::TestDatabase database{GetParam()};
};
ON_EACH_SERVER(WaitOnAServer);

TEST_P(WaitOnAServer, SeesTheEndAndTheResultOfAnotherInstancesTask) {
  Engine caller{database.url(), quiet()};
  Engine worker{database.url(), quiet()};
  auto pay = caller.retryable("pay", [](int order) { return order; });
  worker.retryable(
      "pay", [](int order) { return order + 1; }, HandlerOptions{.keep_results = 1h});
  worker.start();
  for (int order = 0; order < 5; ++order) {
    EXPECT_EQ(caller.wait(pay.submit(order), 1min).result_as<int>(), order + 1);
  }
  EXPECT_EQ(caller.find("pay", caller.list({.finished = true}).front().key)->outcome, Outcome::succeeded);
}

}  // namespace
}  // namespace easyretry
