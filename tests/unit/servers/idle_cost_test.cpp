// The statements of idle instances, by the server's own count.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "support/eventually.h"
#include "support/statement_count.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using fault::kind_name;
using test::ServerKind;

class IdleCost : public fault::OnEachServer {
 protected:
  static constexpr int kInstances = 3;

  void start_all() {
    for (int i = 0; i < kInstances; ++i) {
      Engine& engine = *engines_.emplace_back(std::make_unique<Engine>(server_.url(), EngineOptions{.log = nullptr}));
      engine.retryable("pay", [](int) {});
      engine.start();
    }
    ASSERT_TRUE(test::eventually(
        [&] {
          return std::ranges::all_of(engines_, [](const auto& engine) {
            return engine->cluster().trusted && engine->cluster().members.size() == kInstances;
          });
        },
        20s));
  }

  test::DatabaseServer server_{GetParam()};
  const std::unique_ptr<test::StatementCount> count_ = test::count_statements(GetParam(), server_);
  std::vector<std::unique_ptr<Engine>> engines_;
};
ON_EACH_OWN_SERVER(IdleCost);
ON_OWN_REDIS(IdleCost);

// BEGIN, COMMIT and SET are statements, too.
TEST_P(IdleCost, IsLessThanAStatementASecondForEachInstance) {
  constexpr auto kTime = 20s;
  ASSERT_NO_FATAL_FAILURE(start_all());
  const int before = count_->now();
  std::this_thread::sleep_for(kTime);  // a rate is a matter of time
  const double rate = static_cast<double>(count_->now() - before) / kInstances / kTime.count();
  std::cout << rate << " statements a second for each of " << kInstances << " idle instances\n";
  RecordProperty("statements_a_second", std::to_string(rate));
  EXPECT_LE(rate, 1);
  EXPECT_GT(rate, 0.6) << "a scan every 2.5 s and a beat every 3.3 s are not there";
}

}  // namespace
}  // namespace easyretry
