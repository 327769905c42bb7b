#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/sql/session.h"
#include "unit/storage/sql/empty_session.h"

namespace easyretry::storage::sql {
namespace {

TEST(Pool, LendsTheSameSessionAgain) {
  int connected = 0;
  Pool pool{[&] {
              ++connected;
              return std::make_unique<EmptySession>();
            },
            2};
  const Session* first = nullptr;
  {
    const auto lease = pool.take();
    first = &*lease;
  }
  EXPECT_EQ(&*pool.take(), first);
  EXPECT_EQ(connected, 1);
}

TEST(Pool, ThrowsABrokenSessionAway) {
  int connected = 0;
  Pool pool{[&] {
              ++connected;
              return std::make_unique<EmptySession>();
            },
            1};
  {
    const auto lease = pool.take();
    static_cast<EmptySession&>(*lease).broken_now = true;
  }
  pool.take();
  EXPECT_EQ(connected, 2);
}

TEST(Pool, WaitsForASessionWhileAllAreLent) {
  Pool pool{[] { return std::make_unique<EmptySession>(); }, 1};
  std::atomic<bool> lent{true};
  std::jthread second;
  {
    const auto lease = pool.take();
    second = std::jthread{[&] {
      const auto mine = pool.take();
      EXPECT_FALSE(lent);
    }};
    std::this_thread::yield();
    lent = false;
  }
}

// A server that is down is not asked by every caller anew, and every caller is told why.
TEST(Pool, AfterAFailedConnectionTheNextCallersAreToldWithoutATry) {
  int tries = 0;
  Pool pool{[&]() -> std::unique_ptr<Session> {
              ++tries;
              throw ServerError{Trouble::gone, "connection refused"};
            },
            2};
  for (int i = 0; i < 3; ++i) {
    try {
      pool.take();
      FAIL() << "there is no server";
    } catch (const ServerError& error) {
      EXPECT_EQ(error.trouble(), Trouble::gone);
      EXPECT_STREQ(error.what(), "connection refused");
    }
  }
  EXPECT_EQ(tries, 1);
}

TEST(Pool, AFailedConnectionCostsNoPlaceInThePool) {
  bool up = false;
  Pool pool{[&]() -> std::unique_ptr<Session> {
              if (!up) throw ServerError{Trouble::gone, "connection refused"};
              return std::make_unique<EmptySession>();
            },
            1};
  EXPECT_THROW(pool.take(), ServerError);
  up = true;
  std::this_thread::sleep_for(std::chrono::milliseconds{60});  // the longest first pause is 50 ms
  EXPECT_NO_THROW(pool.take());
}

}  // namespace
}  // namespace easyretry::storage::sql
