// The last attempts of tasks on database servers: tables that an earlier release has made lack their column.

#include "storage/history.h"
#include "support/together.h"
#include "task/attempt_log.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

class AttemptsOnServers : public ServerStores {
 protected:
  // As the releases before made it.
  void make_old(const std::string& table) { sql->run("ALTER TABLE " + table + " DROP COLUMN attempt_log"); }

  // How the attempts of a task ended that is taken over from an instance that died, and then fails for good.
  std::vector<AttemptEnd> ends_after_a_crash(Store& store, const Inserted& task) {
    const Ticket lost = claim(store, task, 1s);
    clock.advance(2s);
    Settlement end;
    end.ticket = claim(store, {.id = lost.id, .version = lost.version}, 1h);
    end.outcome = Outcome::exhausted;
    end.attempt = task::attempt_line({.number = 1, .began_at = std::nullopt, .ended_at = clock.now()});
    EXPECT_TRUE(store.settle({&end, 1}).value().applied.at(0));
    std::vector<AttemptEnd> ends;
    const auto found = find(store, task.id);
    for (const PastAttempt& attempt : found->info.last_attempts) ends.push_back(attempt.end);
    return ends;
  }
};
ON_EACH_SERVER(AttemptsOnServers);

const std::vector kBoth{AttemptEnd::failed, AttemptEnd::crashed};

TEST_P(AttemptsOnServers, TablesOfAnEarlierReleaseAreCompletedWhenTheyAreOpenedAlsoSeveralAtOnce) {
  const Inserted task = insert(*open(Layout::single()), a_task());
  make_old("retry_task");
  make_old(history_table(clock.now()));
  const auto stores = test::together(4, [&](int) { return open(Layout::single()); });
  EXPECT_EQ(ends_after_a_crash(*stores[3], task), kBoth);
}

TEST_P(AttemptsOnServers, ATableThatAnEarlierReleaseMakesMeanwhileIsCompletedWhenItIsMet) {
  const auto one = open(Layout::period(PeriodLength::month));
  const auto other = open(Layout::period(PeriodLength::month));
  clock.set_wall(day(2025, 2, 15));
  const Inserted task = insert(*one, a_task());
  make_old("retry_task_202502_0");
  EXPECT_EQ(ends_after_a_crash(*other, task), kBoth);
}

TEST_P(AttemptsOnServers, ATaskThatMovesToAnotherTableTakesItsAttemptsAlong) {
  const auto store = open(Layout::period(PeriodLength::month));
  Settlement retry;
  retry.ticket = claim(*store, insert(*store, a_task()), 1h);
  retry.kind = Settlement::Kind::retry;
  retry.attempt = task::attempt_line({.number = 1, .began_at = std::nullopt, .ended_at = clock.now()});
  EXPECT_TRUE(store->settle({&retry, 1}).value().applied.at(0));
  clock.set_wall(day(2025, 3, 5));
  while (store->keep().value().more) {
  }
  const auto found = find(*store, retry.ticket.id);
  ASSERT_THAT(found->info.last_attempts, ::testing::SizeIs(1));
  EXPECT_EQ(found->info.last_attempts[0].number, 1);
}

}  // namespace
}  // namespace easyretry::storage
