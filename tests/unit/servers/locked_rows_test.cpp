// A row that another client's transaction has locked: every verb works for the other tasks, and that one waits.

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include "support/endings.h"
#include "support/eventually.h"
#include "support/together.h"
#include "unit/servers/foreign_lock.h"
#include "unit/servers/server_stores.h"

namespace easyretry::storage {
namespace {

using test::ForeignLock;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::size_t kRows = 40;
constexpr std::size_t kLocked = 17;  // the place of the one that is locked: others come before and after it

class LockedRows : public ServerStores {
 protected:
  void open_with(Layout layout) { store = open(layout); }
  void insert_tasks() {
    for (std::size_t i = 0; i < kRows; ++i) tasks.push_back(insert(*store, a_task()));
  }
  std::vector<Ticket> seen() const {
    std::vector<Ticket> stored;
    for (const Inserted& task : tasks) stored.push_back({task.id, task.version});
    return stored;
  }
  void claim_all() {
    const std::vector<Ticket> before = seen();
    ASSERT_EQ(store->claim({before, "worker", 1h}).value().won.size(), kRows);
    for (const Ticket& ticket : before) tickets.push_back({ticket.id, ticket.version + 1});
  }
  TaskId locked() const { return tasks[kLocked].id; }

  std::string table_of(TaskId id) {
    const auto session = test::connect_session(GetParam(), database.name());
    for (const std::string& table : session->schema().tables()) {
      if (!table.starts_with("retry_task") || table == "retry_task_key" || table.starts_with("retry_task_history")) {
        continue;
      }
      if (!session->find(table, false, {&id, 1}).empty()) return table;
    }
    return "nowhere";
  }
  ForeignLock lock() { return ForeignLock::on(GetParam(), database.name(), table_of(locked()), locked()); }

  // Every third one a retry, which stays in its table; the others are ends, which leave it.
  std::vector<Settlement> outcomes() const {
    std::vector<Settlement> settlements(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
      settlements[i].ticket = tickets[i];
      if (i % 3 == 0) settlements[i].kind = Settlement::Kind::retry;
    }
    return settlements;
  }
  static void expect_all_but_the_locked(const Result<Applied>& reply) {
    ASSERT_TRUE(reply) << to_string(reply.error());
    EXPECT_THAT(reply->unanswered, ElementsAre(kLocked));
    ASSERT_TRUE(reply->trouble);
    EXPECT_EQ(reply->trouble->code, Errc::unavailable);
    ASSERT_EQ(reply->applied.size(), kRows);
    for (std::size_t i = 0; i < kRows; ++i) EXPECT_EQ(reply->applied[i], i != kLocked) << i;
  }

  void settle_around_a_lock(Layout layout) {
    open_with(layout);
    insert_tasks();
    claim_all();
    ForeignLock theirs = lock();
    const std::vector<Settlement> settlements = outcomes();
    expect_all_but_the_locked(store->settle(settlements));
    const auto alone = store->settle({&settlements[kLocked], 1});
    ASSERT_FALSE(alone);
    EXPECT_EQ(alone.error().code, Errc::unavailable) << to_string(alone.error());
    theirs.let_go();
    EXPECT_THAT(store->settle({&settlements[kLocked], 1}).value().applied, ElementsAre(true));
    EXPECT_THAT(store->settle(settlements).value().applied, Each(false)) << "each was applied once";
  }
  void claim_around_a_lock(Layout layout) {
    open_with(layout);
    insert_tasks();
    ForeignLock theirs = lock();
    const std::vector<Ticket> wanted = seen();
    const auto reply = store->claim({wanted, "worker", 1h});
    ASSERT_TRUE(reply) << to_string(reply.error());
    EXPECT_EQ(reply->won.size(), kRows - 1);
    EXPECT_FALSE(reply->trouble) << "it is held by someone, which is an answer";
    EXPECT_THAT(due(*store), Contains(locked())) << "the next scan finds it";
    theirs.let_go();
    EXPECT_EQ(store->claim({wanted, "worker", 1h}).value().won.size(), 1U);
  }
  void renew_around_a_lock(Layout layout) {
    open_with(layout);
    insert_tasks();
    claim_all();
    ForeignLock theirs = lock();
    std::vector<Renewal> renewals;
    for (const Ticket& ticket : tickets) renewals.push_back({ticket, 2h});
    expect_all_but_the_locked(store->renew(renewals));
    theirs.let_go();
    EXPECT_THAT(store->renew(renewals).value().applied, Each(true));
  }

  // Submits a task with the key of the locked one, in a transaction of its own.
  Result<InsertReply> submit_again() {
    task::NewTask task = a_task();
    task.key = find(*store, locked())->info.key;
    return store->insert({&task, 1});
  }
  void submit_around_a_lock(Layout layout, const std::string& work) {
    open_with(layout);
    insert_tasks();
    ForeignLock theirs{GetParam(), database.name(), work + " WHERE id = " + ForeignLock::number(locked())};
    // It waits for the lock or is answered without it; no other insert waits.
    auto again = std::async(std::launch::async, [this] { return submit_again(); });
    test::together(8, [this](int) {
      for (int i = 0; i < 10; ++i) insert(*store, a_task());
      return true;
    });
    if (work.starts_with("DELETE")) {
      EXPECT_EQ(again.wait_for(0s), std::future_status::timeout) << "others were to be faster";
    }
    theirs.let_go();
    const auto reply = again.get();
    if (reply) {
      EXPECT_EQ(reply->tasks.at(0).id, locked());
      EXPECT_FALSE(reply->tasks.at(0).created);
    } else {
      EXPECT_EQ(reply.error().code, Errc::unavailable);
    }
  }

  std::unique_ptr<Store> store;
  std::vector<Inserted> tasks;
  std::vector<Ticket> tickets;  // of the claims
};
ON_EACH_SERVER(LockedRows);

TEST_P(LockedRows, OthersAreSettled) {
  settle_around_a_lock(Layout::single());
}

TEST_P(LockedRows, OthersAreSettledInSeveralTables) {
  settle_around_a_lock(Layout::hash(4));
}

TEST_P(LockedRows, OthersAreSettledInTablesOfAPeriod) {
  settle_around_a_lock(Layout::period(PeriodLength::month));
}

TEST_P(LockedRows, OthersAreClaimed) {
  claim_around_a_lock(Layout::single());
}

TEST_P(LockedRows, OthersAreClaimedInSeveralTables) {
  claim_around_a_lock(Layout::hash(4));
}

TEST_P(LockedRows, OthersAreRenewed) {
  renew_around_a_lock(Layout::single());
}

TEST_P(LockedRows, OthersAreRenewedInSeveralTables) {
  renew_around_a_lock(Layout::hash(4));
}

// So many that they are not searched for one by one.
TEST_P(LockedRows, ManyMayBeLocked) {
  open_with(Layout::single());
  insert_tasks();
  claim_all();
  ForeignLock theirs{GetParam(), database.name(),
                     "UPDATE retry_task SET updated_at = 1 WHERE id > " + ForeignLock::number(locked())};
  const auto reply = store->settle(outcomes());
  ASSERT_TRUE(reply) << to_string(reply.error());
  const auto left = std::ranges::count_if(tasks, [&](const Inserted& task) { return task.id > locked(); });
  EXPECT_EQ(reply->unanswered.size(), static_cast<std::size_t>(left));
  theirs.let_go();
}

TEST_P(LockedRows, OtherKeysAreStored) {
  submit_around_a_lock(Layout::single(), "UPDATE retry_task SET updated_at = 1");
}

TEST_P(LockedRows, OtherKeysAreStoredWhileARowIsBeingDeleted) {
  submit_around_a_lock(Layout::single(), "DELETE FROM retry_task");
}

TEST_P(LockedRows, OtherKeysAreStoredInSeveralTables) {
  submit_around_a_lock(Layout::hash(4), "DELETE FROM retry_task_key");
}

// On MariaDB, an insert into a gap between two keys waits for the transaction that holds the gap; most locking reads
// hold one. Other tasks are stored.
TEST_P(LockedRows, KeysBesideAHeldGapAreStored) {
  open_with(Layout::single());
  for (const char* key : {"l", "m", "o"}) insert(*store, a_task().key(key));
  ForeignLock theirs{GetParam(), database.name(), "SELECT id FROM retry_task WHERE task_key = 'm' FOR UPDATE"};
  auto in_gap = std::async(std::launch::async, [this] {
    task::NewTask task = a_task().key("n");
    return store->insert({&task, 1});
  });
  test::together(8, [this](int thread) {
    for (int i = 0; i < 10; ++i) insert(*store, a_task().key("a" + std::to_string(100 * thread + i)));
    return true;
  });
  if (GetParam() == ServerKind::mariadb) {
    EXPECT_EQ(in_gap.wait_for(0s), std::future_status::timeout) << "others were to be faster";
  }
  theirs.let_go();
  const auto reply = in_gap.get();
  EXPECT_TRUE(reply || reply.error().code == Errc::unavailable);
}

// More cancels of it wait than there are connections. Searches and other cancels are answered all the same.
TEST_P(LockedRows, OthersAreCancelledAndFound) {
  open_with(Layout::single());
  insert_tasks();
  ForeignLock theirs = lock();
  std::atomic<int> answered{0};
  std::vector<std::future<Result<Applied>>> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.push_back(std::async(std::launch::async, [this, &answered] {
      const TaskId id = locked();
      auto reply = store->end(test::endings({&id, 1}));
      ++answered;
      return reply;
    }));
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    if (i == kLocked) continue;
    EXPECT_TRUE(find(*store, tasks[i].id));
    EXPECT_THAT(store->end(test::endings({&tasks[i].id, 1})).value().applied, ElementsAre(true));
  }
  EXPECT_EQ(answered, 0) << "they were to wait meanwhile";
  theirs.let_go();
  int applied = 0;
  for (auto& one : waiting) {
    const auto reply = one.get();
    ASSERT_TRUE(reply) << to_string(reply.error());
    applied += reply->applied[0] ? 1 : 0;
  }
  EXPECT_EQ(applied, 1);
}

TEST_P(LockedRows, ACancelOfOneThatStaysLockedFailsAsUnavailable) {
  open_with(Layout::single());
  insert_tasks();
  ForeignLock theirs = lock();
  const std::vector<TaskId> both{tasks[0].id, locked()};
  const auto reply = store->end(test::endings(both));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable) << to_string(reply.error());
  EXPECT_THAT(ids(*store), Contains(tasks[0].id)) << "unavailable: nothing was done";
  theirs.let_go();
}

// Two transactions lock keys in opposite orders. The server undoes ours, and it is repeated.
TEST_P(LockedRows, ADeadlockIsSurvived) {
  open_with(Layout::single());
  insert_tasks();
  std::ranges::sort(tasks, {}, &Inserted::id);
  const std::string a = ForeignLock::number(tasks.front().id);
  const std::string look = "SELECT id FROM retry_task WHERE id = " + a + " FOR UPDATE SKIP LOCKED";
  const auto deadlocks = [&] {
    return GetParam() == ServerKind::mariadb
               ? std::stol(sql->run("SELECT variable_value FROM information_schema.global_status WHERE variable_name = "
                                    "'INNODB_DEADLOCKS'"))
               : 0L;
  };
  const long before = deadlocks();
  std::atomic<bool> done{false};
  auto others = std::async(std::launch::async, [&] {
    int stored = 0;
    for (; !done; ++stored) insert(*store, a_task());
    return stored;
  });
  const std::shared_ptr<void> stop{nullptr, [&done](void*) { done = true; }};  // also where an assertion leaves
  for (int round = 0; round < 5; ++round) {
    // The other transaction has changed more rows, so the server undoes ours.
    ForeignLock theirs{GetParam(), database.name(), "UPDATE retry_task SET updated_at = 1 WHERE id > " + a};
    std::vector<Revision> revisions;
    for (const TaskId id : {tasks.front().id, tasks.back().id}) {
      revisions.push_back({.ticket = {id, find(*store, id)->info.version}, .delay = Millis{0}});
    }
    auto ours = std::async(std::launch::async, [&] { return store->revise(revisions); });
    ASSERT_TRUE(test::eventually([&] { return sql->run(look).empty(); })) << "ours holds the first and wants the last";
    theirs.run("UPDATE retry_task SET updated_at = 2 WHERE id = " + a);
    theirs.let_go();
    const auto reply = ours.get();
    ASSERT_TRUE(reply) << to_string(reply.error());
    EXPECT_THAT(reply->applied, ElementsAre(true, true));
  }
  done = true;
  EXPECT_GT(others.get(), 0);
  if (GetParam() == ServerKind::mariadb) {
    EXPECT_GT(deadlocks(), before);
  }
}

}  // namespace
}  // namespace easyretry::storage
