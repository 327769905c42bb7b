// Many claimers, submitters, a canceller and keepers on one table at once: each task has one
// claimer at a time and ends once, and the server hardly ever has to end a deadlock.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>

#include <gmock/gmock.h>

#include "fault/crew.h"
#include "fault/each_server.h"
#include "storage/open.h"
#include "support/endings.h"
#include "support/plain_sql.h"
#include "support/task_builder.h"
#include "support/test_database.h"
#include "support/together.h"

namespace easyretry::fault {
namespace {

using storage::Settlement;
using storage::TaskRecord;
using storage::Ticket;

constexpr int kStores = 4;  // as if they were processes
constexpr int kClaimers = 8;
constexpr int kKeepers = 2;
constexpr int kSubmitters = 3;
constexpr std::size_t kTasksPerInsert = 50;
constexpr std::size_t kShardsALook = 16;  // of 64: any two looks meet

// EASYRETRY_CLAIMS=200000 for an evening.
std::size_t claims_wanted() {
  const char* wanted = std::getenv("EASYRETRY_CLAIMS");
  return wanted == nullptr ? 20'000 : std::stoul(wanted);
}

// The holders of all tasks, according to the answers of the store.
class Ledger {
 public:
  void won(const std::vector<TaskRecord>& records) {
    const std::lock_guard lock{mutex_};
    for (const TaskRecord& record : records) {
      EXPECT_TRUE(held_.insert(record.info.id).second) << to_string(record.info.id) << " is claimed twice at a time";
    }
    claims_ += records.size();
  }
  // Before it is settled: a moment later another claimer may have it.
  void let_go(const std::vector<TaskRecord>& records) {
    const std::lock_guard lock{mutex_};
    for (const TaskRecord& record : records) held_.erase(record.info.id);
  }
  std::size_t claims() const { return claims_; }

  std::atomic<std::size_t> stored{0};
  std::atomic<std::size_t> finished{0};
  std::atomic<std::size_t> cancelled{0};

 private:
  std::mutex mutex_;
  std::set<TaskId> held_;  // guarded by mutex_
  std::atomic<std::size_t> claims_{0};
};

struct Traffic {
  long transactions = 0;
  long deadlocks = 0;
};

class Contention : public OnEachServer {
 protected:
  storage::Store& store(int user) { return *stores_[static_cast<std::size_t>(user % kStores)]; }

  void open_stores() {
    for (int i = 0; i < kStores; ++i) stores_.push_back(storage::open_store(database_.url(), system_clock()));
  }

  // Two of three tasks are claimed twice.
  void submit(int user) {
    const std::size_t enough = wanted_ * 7 / 10 / kSubmitters;
    for (std::size_t mine = 0; mine < enough; mine += kTasksPerInsert) {
      std::vector<task::NewTask> tasks(kTasksPerInsert);
      for (task::NewTask& task : tasks) task = test::a_task();
      EXPECT_TRUE(store(user).insert(tasks));
      ledger_.stored += tasks.size();
    }
  }

  std::vector<Ticket> look(int user, Dice& dice) {
    std::vector<storage::ShardCursor> from;
    const std::size_t first = dice.up_to(63);
    for (std::size_t i = 0; i < kShardsALook; ++i)
      from.push_back({ShardId{static_cast<std::uint16_t>((first + i) % 64)}});
    const auto found = store(user).load({.name_space = test::kNamespace, .from = from, .limit = 10});
    EXPECT_TRUE(found);
    std::vector<Ticket> tickets;
    for (const auto& task : found->tasks) tickets.push_back(task);
    return tickets;
  }

  // The first claim of a task ends in a retry two times of three, the second one ends it.
  static Settlement outcome(const TaskRecord& record, Dice& dice) {
    Settlement settlement;
    settlement.ticket = {record.info.id, record.info.version};
    if (record.info.attempts == 1 && dice.up_to(2) > 0) settlement.kind = Settlement::Kind::retry;
    return settlement;
  }

  void settle(int user, const std::vector<TaskRecord>& won, Dice& dice) {
    std::vector<Settlement> settlements;
    for (const TaskRecord& record : won) settlements.push_back(outcome(record, dice));
    ledger_.let_go(won);
    while (!settlements.empty()) settlements = settle_once(user, settlements);
  }

  // Returns those to send again: another transaction held their rows at that moment.
  std::vector<Settlement> settle_once(int user, const std::vector<Settlement>& settlements) {
    const auto reply = store(user).settle(settlements);
    if (!reply && settlements.size() == 1 && reply.error().code == Errc::unavailable) return settlements;
    EXPECT_TRUE(reply) << to_string(reply.error());
    std::vector<Settlement> left;
    if (!reply) return left;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      if (std::ranges::binary_search(reply->unanswered, i)) left.push_back(settlements[i]);
      if (reply->applied[i] && settlements[i].kind == Settlement::Kind::finish) ++ledger_.finished;
    }
    again_ += left.size();
    return left;
  }

  // Half of them keep what they won while they claim the next batch, so that there is time for others to take it away;
  // half settle it at once, so that settlements meet claims that saw the tasks before.
  void work(int user) {
    Dice dice;
    std::vector<TaskRecord> kept;
    while (ledger_.finished + ledger_.cancelled < ledger_.stored || !submitted_) {
      std::vector<TaskRecord> won = claim(user, look(user, dice));
      if (user % 2 == 0) std::swap(won, kept);
      settle(user, won, dice);
    }
  }

  std::vector<TaskRecord> claim(int user, const std::vector<Ticket>& tickets) {
    auto reply = store(user).claim({tickets, "worker", std::chrono::hours{1}});
    EXPECT_TRUE(reply) << to_string(reply.error());
    if (!reply) return {};
    ledger_.won(reply->won);
    return std::move(reply->won);
  }

  // Some of them are running by then.
  void cancel_some(int user) {
    Dice dice;
    while (!submitted_) {
      std::vector<TaskId> ids;
      for (const Ticket& ticket : look(user, dice)) {
        if (dice.up_to(9) == 0) ids.push_back(ticket.id);
      }
      std::reverse(ids.begin(), ids.end());
      const auto reply = store(user).end(test::endings(ids));
      ASSERT_TRUE(reply) << to_string(reply.error());
      for (const bool applied : reply->applied) ledger_.cancelled += applied ? 1 : 0;
    }
  }

  // As often as they can, and not once an hour.
  void keep(int user) {
    while (!submitted_) {
      ASSERT_TRUE(store(user).keep());
      ASSERT_TRUE(store(user).fold_counts());
      ASSERT_TRUE(store(user).beat({.name_space = test::kNamespace, .node = std::to_string(user), .ttl = Millis{50}}));
    }
  }

  void run(int user) {
    if (user < kClaimers) return work(user);
    if (user < kClaimers + kKeepers) return keep(user);
    if (user == kClaimers + kKeepers) return cancel_some(user);
    submit(user);
    if (++done_submitting_ == kSubmitters) submitted_ = true;
  }

  // Counted by the server, which has counted everything when the connections are gone.
  Traffic traffic() {
    const auto sql = test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database_.name());
    const auto number = [&](const std::string& query) { return std::stol(sql->run(query)); };
    if (GetParam() == ServerKind::postgres) {
      const std::string of_ours = " FROM pg_stat_database WHERE datname = '" + database_.name() + "'";
      return {number("SELECT xact_commit + xact_rollback" + of_ours), number("SELECT deadlocks" + of_ours)};
    }
    const std::string of_all =
        "SELECT sum(variable_value) FROM information_schema.global_status WHERE variable_name IN ";
    return {number(of_all + "('COM_COMMIT', 'COM_ROLLBACK')"), number(of_all + "('INNODB_DEADLOCKS')")};
  }

  std::int64_t count(bool finished) {
    storage::TaskQuery query;
    query.name_space = test::kNamespace;
    query.finished = finished;
    return storage::open_store(database_.url(), system_clock())->count(query).value();
  }

  std::int64_t live_by_counts() {
    std::int64_t live = 0;
    const auto counts = storage::open_store(database_.url(), system_clock())->counts(test::kNamespace).value();
    for (const auto& [handler, of_handler] : counts) live += of_handler.live();
    return live;
  }

  const std::size_t wanted_ = claims_wanted();
  const test::TestDatabase database_{GetParam()};
  std::vector<std::unique_ptr<storage::Store>> stores_;
  Ledger ledger_;
  std::atomic<int> done_submitting_{0};
  std::atomic<bool> submitted_{false};
  std::atomic<std::size_t> again_{0};
};
ON_EACH_SERVER(Contention);

TEST_P(Contention, GivesEachTaskToOneAtATimeLosesNothingAndHardlyEverDeadlocks) {
  const Traffic before = traffic();
  open_stores();
  test::together(kClaimers + kKeepers + 1 + kSubmitters, [this](int user) {
    run(user);
    return true;
  });
  stores_.clear();
  const Traffic after = traffic();

  EXPECT_EQ(count(false), 0);
  EXPECT_EQ(count(true), static_cast<std::int64_t>(ledger_.stored));
  EXPECT_EQ(ledger_.finished + ledger_.cancelled, ledger_.stored);
  EXPECT_EQ(live_by_counts(), 0);
  EXPECT_GE(ledger_.claims(), wanted_ * 9 / 10);
  const long transactions = after.transactions - before.transactions;
  const long deadlocks = after.deadlocks - before.deadlocks;
  EXPECT_LT(deadlocks * 1000, transactions);
  if (GetParam() == ServerKind::postgres) {
    EXPECT_EQ(deadlocks, 0) << "every statement and every transaction locks rows in the order of their ids";
  }
  std::cout << ledger_.claims() << " claims of " << ledger_.stored << " tasks, " << ledger_.cancelled << " cancelled, "
            << deadlocks << " deadlocks in " << transactions << " transactions, " << again_ << " outcomes sent again\n";
}

}  // namespace
}  // namespace easyretry::fault
