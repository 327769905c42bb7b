#include "storage/group_commit.h"

#include <atomic>
#include <latch>
#include <thread>

#include "support/together.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using test::together;

constexpr int kThreads = 64;

// A clock that stops the first transaction until all writes have arrived: the others gather behind it.
class Gate final : public Clock {
 public:
  TimePoint now() const override {
    if (!closed_.exchange(false)) return kMarch;
    arrivals_.wait();
    return kMarch;
  }
  Instant steady() const override { return {}; }
  void close() { closed_ = true; }
  void arrive() { arrivals_.count_down(); }

 private:
  mutable std::atomic<bool> closed_{false};
  mutable std::latch arrivals_{kThreads};
};

class SqliteGroupCommit : public SqliteTest {
 protected:
  // One insert a thread, all at once.
  std::vector<InsertResult> insert_together(Store& store, const std::vector<NewTask>& tasks) {
    gate.close();
    return together(kThreads, [&](int thread) {
      gate.arrive();
      return store.insert({&tasks[static_cast<std::size_t>(thread)], 1});
    });
  }
  std::vector<NewTask> tasks() const {
    std::vector<NewTask> all;
    for (int i = 0; i < kThreads; ++i) all.push_back(a_task());
    return all;
  }

  Gate gate;
};

TEST_F(SqliteGroupCommit, ConcurrentInsertsShareCommits) {
  const auto store = open_sqlite(options(), gate);
  const auto before = sqlite_commit_count(*store);
  for (const auto& reply : insert_together(*store, tasks())) EXPECT_TRUE(reply->tasks.at(0).created);
  EXPECT_LT(sqlite_commit_count(*store) - before, kThreads / 2);
  EXPECT_EQ(must(store->count({})), kThreads);
}

TEST_F(SqliteGroupCommit, ABadWriteDoesNotAffectTheOthersInItsGroup) {
  open_sqlite(options(), gate);
  by_hand(
      "CREATE TRIGGER poison BEFORE INSERT ON retry_call WHEN NEW.task_key = 'poison' "
      "BEGIN SELECT RAISE(ABORT, 'poisoned'); END");
  const auto store = open_sqlite(options(), gate);
  auto all = tasks();
  all[kThreads / 2].key = "poison";

  const auto replies = insert_together(*store, all);

  for (int i = 0; i < kThreads; ++i) {
    const auto& reply = replies[static_cast<std::size_t>(i)];
    EXPECT_EQ(reply.has_value(), i != kThreads / 2);
    if (reply) {
      EXPECT_EQ(must(store->find({&reply->tasks.at(0).id, 1})).at(0).info.key, all[static_cast<std::size_t>(i)].key);
    } else {
      EXPECT_EQ(reply.error().code, Errc::invalid_argument);
      EXPECT_EQ(reply.error().where, "sqlite.insert");
      EXPECT_THAT(reply.error().detail, HasSubstr("poisoned"));
    }
  }
  EXPECT_EQ(must(store->count({})), kThreads - 1);
}

using Answered = GroupCommit::Entry::Answered;
void nothing() {}
void at_once(GroupCommit::Group) {}

TEST(GroupCommit, ALoneCallerIsAGroupOfOne) {
  std::vector<std::size_t> groups;
  GroupCommit commit{{[&](GroupCommit::Group group) { groups.push_back(group.size()); }, nothing, at_once}};
  GroupCommit::Entry entry{1, Answered::on_disk};
  commit.submit(entry);
  EXPECT_THAT(groups, ::testing::ElementsAre(1));
}

TEST(GroupCommit, OneLeaderAtATimeAnswersEveryEntryOnce) {
  constexpr int kRounds = 50;
  std::atomic<bool> led{false};
  std::atomic<int> answered{0};
  std::atomic<bool> overlapped{false};
  GroupCommit commit{{[&](GroupCommit::Group group) {
                        if (led.exchange(true)) overlapped = true;
                        std::this_thread::yield();
                        answered += static_cast<int>(group.size());
                        led = false;
                      },
                      nothing, at_once}};
  together(8, [&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      GroupCommit::Entry entry{1, thread % 2 == 0 ? Answered::on_disk : Answered::at_commit};
      commit.submit(entry);
    }
    return 0;
  });
  EXPECT_FALSE(overlapped);
  EXPECT_EQ(answered, 8 * kRounds);
}

TEST(GroupCommit, WhileOneGroupWaitsForTheDiskTheNextCommits) {
  std::latch committed_again{1};
  std::atomic<int> commits{0};
  GroupCommit commit{{[&](GroupCommit::Group) {
                        if (++commits == 2) committed_again.count_down();
                      },
                      nothing, [&](GroupCommit::Group) { committed_again.wait(); }}};
  together(2, [&](int) {
    GroupCommit::Entry entry{4000, Answered::on_disk};  // a group of its own
    commit.submit(entry);
    return 0;
  });
  EXPECT_EQ(commits, 2);
}

TEST(GroupCommit, AGroupEndsWhereItsRowsWouldKeepTheRestWaiting) {
  std::latch gathered{5};
  std::vector<std::size_t> groups;
  GroupCommit commit{{[&](GroupCommit::Group group) {
                        if (groups.empty()) gathered.wait();
                        groups.push_back(group.size());
                      },
                      nothing, at_once}};
  together(5, [&](int) {
    GroupCommit::Entry entry{3000, Answered::on_disk};
    gathered.count_down();
    commit.submit(entry);
    return 0;
  });
  EXPECT_THAT(groups, ::testing::ElementsAre(1, 1, 1, 1, 1));
}

}  // namespace
}  // namespace easyretry::storage::sqlite
