// Several sessions on the same rows at the same time.

#include <algorithm>
#include <map>

#include "support/together.h"
#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

constexpr int kThreads = 8;

class MysqlRaces : public MysqlTest {
 protected:
  std::vector<Ticket> tasks(int count) {
    std::vector<TaskRecord> rows;
    std::vector<Ticket> tickets;
    for (int i = 0; i < count; ++i) tickets.push_back(ticket_of(rows.emplace_back(row(a_task()))));
    insert(rows);
    return tickets;
  }
  static std::vector<Ticket> shuffled(std::vector<Ticket> tickets, int turn) {
    std::ranges::rotate(tickets, tickets.begin() + turn % static_cast<int>(tickets.size()));
    if (turn % 2 == 1) std::ranges::reverse(tickets);
    return tickets;
  }
};

TEST_F(MysqlRaces, EveryTaskHasOneWinnerAndNoClaimDeadlocks) {
  for (int round = 0; round < 30; ++round) {
    const std::vector<Ticket> tickets = tasks(40);
    const auto won = test::together(kThreads, [&](int i) {
      const auto mine = connect();
      return claim(*mine, shuffled(tickets, i * 5), kMarch, "worker-" + std::to_string(i));
    });
    std::map<TaskId, int> winners;
    for (const auto& records : won) {
      for (const TaskRecord& record : records) {
        ++winners[record.info.id];
        EXPECT_EQ(record.info.version, 2);
      }
    }
    EXPECT_EQ(winners.size(), tickets.size());
    EXPECT_TRUE(std::ranges::all_of(winners, [](const auto& one) { return one.second == 1; }));
  }
}

TEST_F(MysqlRaces, ASettlementSentByManyAppliesOnce) {
  for (int round = 0; round < 10; ++round) {
    std::vector<Ticket> running;
    for (const TaskRecord& record : claim(*session, tasks(40))) running.push_back(ticket_of(record));
    const auto applied = test::together(kThreads, [&](int i) {
      const auto mine = connect();
      std::vector<Settlement> settlements;
      const auto kind = i % 2 == 0 ? Settlement::Kind::finish : Settlement::Kind::retry;
      for (const Ticket& ticket : shuffled(running, i * 7)) settlements.push_back(settlement_of(ticket, kind, "no"));
      return in_transaction(*mine, [&] {
        return i % 2 == 0 ? ended_ids(mine->finish(kTable, kHistory, settlements, kMarch))
                          : mine->reschedule(kTable, settlements, kMarch);
      });
    });
    std::map<TaskId, int> times;
    for (const auto& ids : applied) {
      for (const TaskId id : ids) ++times[id];
    }
    EXPECT_EQ(times.size(), running.size());
    EXPECT_TRUE(std::ranges::all_of(times, [](const auto& one) { return one.second == 1; }));
  }
}

// Each worker has its own rows, side by side in a small table, and none waits for the rows of another.
TEST_F(MysqlRaces, WorkersFinishTheirOwnTasksOfASmallTableWithoutADeadlock) {
  test::together(kThreads, [&](int i) {
    const auto mine = connect();
    task::TaskIdSource ids{static_cast<std::uint64_t>(100 * i)};
    for (int round = 0; round < 25; ++round) {
      std::vector<TaskRecord> rows;
      std::vector<Ticket> tickets;
      for (int k = 0; k < 5; ++k) {
        rows.push_back(task::new_record(a_task(), ids.next(kMarch, ShardId{static_cast<std::uint16_t>(i)}), kMarch));
        tickets.push_back(ticket_of(rows.back()));
      }
      in_transaction(*mine, [&] { return mine->insert(kTable, {}, rows); });
      std::vector<Settlement> settlements;
      for (const TaskRecord& record : claim(*mine, tickets)) {
        settlements.push_back(settlement_of(ticket_of(record), Settlement::Kind::finish));
      }
      EXPECT_EQ(in_transaction(*mine, [&] { return mine->finish(kTable, kHistory, settlements, kMarch); }).size(), 5U);
    }
    return true;
  });
  EXPECT_EQ(live_count(), 0);
}

// A transaction that lost a deadlock is run again, as sql/transactions.h does.
TEST_F(MysqlRaces, OneKeyStoredByManyIsStoredOnce) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::string> keys;
    for (int i = 0; i < 20; ++i) keys.push_back("race-" + std::to_string(round) + "-" + std::to_string(i));
    const auto stored = test::together(kThreads, [&](int i) {
      const auto mine = connect();
      task::TaskIdSource ids{static_cast<std::uint64_t>(100 * i)};
      std::vector<TaskRecord> rows;
      for (const std::string& key : keys) {
        rows.push_back(
            task::new_record(a_task().key(key), ids.next(kMarch + Millis{100 * round + i}, ShardId{1}), kMarch));
      }
      std::ranges::rotate(rows, rows.begin() + 2 * i);
      for (;;) {
        try {
          return in_transaction(*mine, [&] { return mine->insert(kTable, {}, rows); });
        } catch (const server::ServerError& error) {
          if (error.trouble() != Trouble::again) throw;
        }
      }
    });
    std::size_t all = 0;
    for (const auto& ids : stored) all += ids.size();
    EXPECT_EQ(all, keys.size());
  }
}

TEST_F(MysqlRaces, TablesMadeByManyAtOnceAreMade) {
  test::together(kThreads, [&](int) {
    const auto mine = connect();
    sql::migrate(mine->schema(), mine->schema().version());
    mine->schema().create_tasks("retry_task_7", sql::UniqueKeys::in_task_table);
    mine->schema().create_history("retry_task_history_202604");
    EXPECT_EQ(mine->schema().agree("total_shards", "64"), "64");
    return true;
  });
  EXPECT_THAT(session->schema().tables(), ::testing::Contains("retry_task_7"));
}

}  // namespace
}  // namespace easyretry::storage::mysql
