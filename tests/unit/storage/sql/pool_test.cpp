#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/sql/session.h"
#include "support/manual_pauses.h"
#include "unit/storage/sql/empty_session.h"

namespace easyretry::storage::sql {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

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

class PoolOfAServerThatIsDown : public ::testing::Test {
 protected:
  std::string refusal() {
    try {
      pool.take();
      return "";
    } catch (const ServerError& error) {
      EXPECT_EQ(error.trouble(), Trouble::gone);
      return error.what();
    }
  }

  int tries = 0;
  bool up = false;
  test::ManualPauses clock;
  Pool pool{[this]() -> std::unique_ptr<Session> {
              ++tries;
              if (!up) throw ServerError{Trouble::gone, "connection refused"};
              return std::make_unique<EmptySession>();
            },
            1, clock};
};

TEST_F(PoolOfAServerThatIsDown, TellsTheNextCallersWithoutATry) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(refusal(), "connection refused");
  EXPECT_EQ(tries, 1);
}

TEST_F(PoolOfAServerThatIsDown, TriesAgainAfterPausesThatDoubleUpToTwoSeconds) {
  for (const Millis longest : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
    const int before = tries;
    refusal();
    EXPECT_EQ(tries, before + 1);
    clock.advance(longest / 2 - 1ms);
    refusal();
    EXPECT_EQ(tries, before + 1) << "no pause is shorter than half of " << longest.count() << " ms";
    clock.advance(longest / 2 + 1ms);
  }
  EXPECT_THAT(clock.taken(), IsEmpty()) << "no caller waits";
}

TEST_F(PoolOfAServerThatIsDown, BeginsWithTheShortestPauseAgainAfterAConnection) {
  for (int i = 0; i < 4; ++i) {
    refusal();
    clock.advance(2s);
  }
  up = true;
  static_cast<EmptySession&>(*pool.take()).broken_now = true;
  up = false;
  refusal();
  up = true;
  clock.advance(50ms);
  EXPECT_NO_THROW(pool.take());
}

TEST_F(PoolOfAServerThatIsDown, KeepsThePlaceOfAFailedConnection) {
  refusal();
  up = true;
  clock.advance(50ms);
  EXPECT_NO_THROW(pool.take());
}

}  // namespace
}  // namespace easyretry::storage::sql
