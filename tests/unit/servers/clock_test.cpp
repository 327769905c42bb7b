// The server's clock, as the store reads it.

#include <chrono>

#include <gtest/gtest.h>

#include "fault/each_server.h"
#include "storage/open.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage {
namespace {

using fault::kind_name;
using test::ServerKind;

class ServerClock : public fault::OnEachServer {};
ON_EACH_SERVER(ServerClock);

TEST_P(ServerClock, IsNeverAheadNotEvenByHalfAMillisecond) {
  const test::TestDatabase database{GetParam()};
  const auto store = open_store(database.url(), system_clock());
  const ShardCursor from{};
  for (int i = 0; i < 300; ++i) {
    const TimePoint now = store->load({.name_space = test::kNamespace, .from = {&from, 1}}).value().now;
    const auto after = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    ASSERT_LE(now, after) << "look " << i;
  }
}

}  // namespace
}  // namespace easyretry::storage
