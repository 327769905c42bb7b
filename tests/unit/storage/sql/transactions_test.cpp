#include "storage/sql/transactions.h"

#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/storage/sql/empty_session.h"

namespace easyretry::storage::sql {
namespace {

// What its commit does, and how often it was rolled back.
struct Scripted : EmptySession {
  std::function<void()> at_commit = [] {};
  int* rolled_back;
  explicit Scripted(std::function<void()> commit, int& undone) : at_commit(std::move(commit)), rolled_back(&undone) {}
  void commit() override { at_commit(); }
  void roll_back() noexcept override { ++*rolled_back; }
};

class TransactionsTest : public ::testing::Test {
 protected:
  auto run(const std::function<int()>& body) {
    return transactions.run("test.verb", Promise::kept, Locks::polled, [&](Session&, TimePoint) { return body(); });
  }
  [[noreturn]] static void fail_with(Trouble trouble) { throw ServerError{trouble, "so it is"}; }

  std::function<void()> at_commit = [] {};
  int undone = 0;
  Pool pool{[this] { return std::make_unique<Scripted>([this] { at_commit(); }, undone); }, 1};
  Transactions transactions{pool};
};

TEST_F(TransactionsTest, GiveWhatTheBodyGave) {
  EXPECT_EQ(run([] { return 42; }), 42);
  EXPECT_EQ(undone, 0);
}

TEST_F(TransactionsTest, ADeadlockIsTriedAgainFromTheStart) {
  int tries = 0;
  const auto result = run([&] {
    if (++tries < 3) fail_with(Trouble::again);
    return tries;
  });
  EXPECT_EQ(result, 3);
  EXPECT_EQ(undone, 2);
}

TEST_F(TransactionsTest, WhatIsTriedAgainIsCountedOnce) {
  int tries = 0;
  std::int64_t counted = 0;
  const auto result = transactions.run("test.verb", Promise::kept, Locks::polled, [&](Session& session, TimePoint now) {
    session.sums().stored("shop", "pay", now);
    if (++tries < 3) fail_with(Trouble::again);
    counted = session.sums().rows().begin()->second;
    return tries;
  });
  EXPECT_EQ(result, 3);
  EXPECT_EQ(counted, 1);
}

TEST_F(TransactionsTest, AConnectionLostBeforeTheCommitIsTriedAgain) {
  int tries = 0;
  EXPECT_EQ(run([&] {
              if (++tries < 2) fail_with(Trouble::gone);
              return tries;
            }),
            2);
}

TEST_F(TransactionsTest, AConnectionLostDuringTheCommitLeavesItInDoubtAndIsNotTriedAgain) {
  int tries = 0;
  at_commit = [] { fail_with(Trouble::gone); };
  const auto result = run([&] { return ++tries; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::in_doubt);
  EXPECT_EQ(result.error().where, "test.verb");
  EXPECT_EQ(tries, 1);
}

TEST_F(TransactionsTest, ADeadlockAtTheCommitIsNoDoubt) {
  int commits = 0;
  at_commit = [&] {
    if (++commits == 1) fail_with(Trouble::again);
  };
  EXPECT_TRUE(run([] { return 1; }));
  EXPECT_EQ(commits, 2);
}

TEST_F(TransactionsTest, ValuesThatCannotBeStoredAreTheCallersFault) {
  const auto result = run([]() -> int { fail_with(Trouble::bad_data); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::invalid_argument);
}

TEST_F(TransactionsTest, WhatTheServerRefusesIsUnavailableAtOnce) {
  for (const Trouble trouble : {Trouble::overloaded, Trouble::refused}) {
    int tries = 0;
    const auto result = run([&]() -> int {
      ++tries;
      fail_with(trouble);
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::unavailable);
    EXPECT_EQ(tries, 1);
  }
}

TEST_F(TransactionsTest, ARefusalUndoesTheTransactionAndIsGivenAsItIs) {
  const auto result = run([]() -> int { throw Refusal{{Errc::already_exists, "test.verb", "there"}}; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::already_exists);
  EXPECT_EQ(undone, 1);
}

TEST_F(TransactionsTest, AnEndlessDeadlockIsGivenUp) {
  const auto result = run([]() -> int { fail_with(Trouble::again); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::unavailable);
}

TEST_F(TransactionsTest, ALockIsToldToWhoeverGoesOnWithoutWhatIsLocked) {
  for (const Locks locks : {Locks::told, Locks::told_at_once}) {
    int tries = 0;
    const auto result = transactions.run("test.verb", Promise::kept, locks, [&](Session&, TimePoint) -> int {
      ++tries;
      fail_with(Trouble::locked);
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::conflict);
    EXPECT_EQ(tries == 1, locks == Locks::told_at_once) << "a lock of our own is over in a moment";
  }
}

// Longer than a deadlock is. Nobody else is kept from the only connection there is.
TEST_F(TransactionsTest, ALockIsWaitedForWithoutAConnection) {
  std::atomic<bool> lent{false};
  std::thread other;
  int tries = 0;
  const auto result = run([&] {
    if (tries == 0) {
      other = std::thread{[&] {
        const auto session = pool.take();
        lent = true;
      }};
    }
    if (++tries < 12 || !lent) fail_with(Trouble::locked);
    return true;
  });
  other.join();
  EXPECT_TRUE(result) << "the other one had to wait for this one's end";
}

TEST_F(TransactionsTest, ALockMetByTheCommitIsNoDoubt) {
  int commits = 0;
  at_commit = [&] {
    if (++commits == 1) fail_with(Trouble::locked);
  };
  EXPECT_TRUE(run([] { return 1; }));
  EXPECT_EQ(commits, 2);
}

}  // namespace
}  // namespace easyretry::storage::sql
