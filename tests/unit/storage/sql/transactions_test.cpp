#include "storage/sql/transactions.h"

#include <functional>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/manual_pauses.h"
#include "unit/storage/sql/empty_session.h"

namespace easyretry::storage::sql {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

// A session with a scripted commit, which counts rollbacks.
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
  static std::chrono::nanoseconds sum(const std::vector<std::chrono::nanoseconds>& pauses) {
    return std::accumulate(pauses.begin(), pauses.end(), std::chrono::nanoseconds{0});
  }
  [[noreturn]] static void fail_with(Trouble trouble) { throw ServerError{trouble, "so it is"}; }

  std::function<void()> at_commit = [] {};
  int undone = 0;
  Pool pool{[this] { return std::make_unique<Scripted>([this] { at_commit(); }, undone); }, 1};
  test::ManualPauses clock;
  Transactions transactions{pool, clock};
};

TEST_F(TransactionsTest, ReturnTheAnswerOfTheBody) {
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
  EXPECT_THAT(clock.taken(), SizeIs(2));
}

TEST_F(TransactionsTest, ARepeatedTransactionIsCountedOnce) {
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

TEST_F(TransactionsTest, ARefusalByTheServerIsUnavailableAtOnce) {
  for (const Trouble trouble : {Trouble::overloaded, Trouble::refused}) {
    int tries = 0;
    const auto result = run([&]() -> int {
      ++tries;
      fail_with(trouble);
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::unavailable);
    EXPECT_EQ(tries, 1);
    EXPECT_THAT(clock.taken(), IsEmpty());
  }
}

TEST_F(TransactionsTest, ARefusalUndoesTheTransactionAndIsGivenAsItIs) {
  const auto result = run([]() -> int { throw Refusal{{Errc::already_exists, "test.verb", "there"}}; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::already_exists);
  EXPECT_EQ(undone, 1);
}

TEST_F(TransactionsTest, AnEndlessDeadlockIsGivenUpAfterEightTriesWhosePausesDouble) {
  int tries = 0;
  const auto result = run([&]() -> int {
    ++tries;
    fail_with(Trouble::again);
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::unavailable);
  EXPECT_EQ(tries, 8);
  const auto pauses = clock.taken();
  ASSERT_THAT(pauses, SizeIs(7));
  Millis longest = 1ms;
  for (const auto pause : pauses) {
    EXPECT_THAT(pause, AllOf(Ge(longest / 2), Le(longest)));
    longest *= 2;
  }
}

TEST_F(TransactionsTest, ALockIsReportedAtOnceOrAfterAMomentToACallerThatCanSkipTheRow) {
  const auto result_of = [&](Locks locks) {
    return transactions.run("test.verb", Promise::kept, locks,
                            [&](Session&, TimePoint) -> int { fail_with(Trouble::locked); });
  };
  ASSERT_FALSE(result_of(Locks::told_at_once));
  EXPECT_EQ(result_of(Locks::told_at_once).error().code, Errc::conflict);
  EXPECT_THAT(clock.taken(), IsEmpty());

  const auto told = result_of(Locks::told);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Errc::conflict);
  const auto waited = sum(clock.taken());
  EXPECT_GT(waited, 30ms) << "a lock of our own is released by then";
  EXPECT_LE(waited, 30ms + 32ms) << "the last pause is the longest";
}

TEST_F(TransactionsTest, ALockThatIsNeverReleasedIsGivenUpAfterFiveSeconds) {
  const auto result = run([]() -> int { fail_with(Trouble::locked); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::unavailable);
  const auto pauses = clock.taken();
  EXPECT_THAT(pauses, Each(Le(128ms)));
  EXPECT_THAT(sum(pauses), AllOf(Gt(5s), Le(5s + 128ms)));
}

// Tries that take long themselves leave no time for pauses.
TEST_F(TransactionsTest, TimeSpentInTriesCountsTowardsTheFiveSeconds) {
  int tries = 0;
  const auto result = run([&]() -> int {
    ++tries;
    clock.advance(3s);
    fail_with(Trouble::locked);
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(tries, 2);
}

TEST_F(TransactionsTest, AnotherThreadGetsTheOnlyConnectionDuringAPause) {
  bool lent = false;
  clock.during = [&] {
    const auto session = pool.take();  // would wait for ten seconds and throw
    lent = true;
  };
  int tries = 0;
  const auto result = run([&] {
    if (++tries < 12) fail_with(Trouble::locked);
    return true;
  });
  EXPECT_TRUE(result);
  EXPECT_TRUE(lent);
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
