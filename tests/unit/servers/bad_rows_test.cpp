// A corrupted or manually edited row affects no other task.

#include <atomic>

#include <gmock/gmock.h>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "storage/open.h"
#include "support/endings.h"
#include "support/eventually.h"
#include "support/plain_sql.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage {
namespace {

using namespace std::chrono_literals;
using fault::kind_name;
using fault::OnEachServer;
using test::a_task;
using test::ServerKind;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Edits of a row that cannot be claimed, or not be claimed again.
constexpr const char* kUnclaimable[] = {
    "status = 'FOO'", "status = ''", "version = -1", "version = 0", "version = 9223372036854775807",
};
// Edits that no instance makes, of a row that can be claimed all the same.
constexpr const char* kOdd[] = {
    "attempt_count = -5",
    "attempt_count = 2147483647, delivery_count = 2147483647",
    "crash_count = 2147483647, status = 'RUNNING'",
    "stage = 'DANCE'",
    "outcome = 'MAYBE'",
    "tags = '{broken'",
    "max_attempts = -1, max_retry_duration = -1",
    "deadline = -9223372036854775808",
    "created_at = 9223372036854775807",
    "backoff_strategy = '{broken'",
};

class BadRows : public OnEachServer {
 protected:
  Ticket insert(const task::NewTask& task) {
    const auto reply = store->insert({&task, 1}).value();
    return {reply.tasks[0].id, reply.tasks[0].version};
  }
  void edit(TaskId id, const std::string& set) {
    test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database.name())
        ->run("UPDATE retry_task SET " + set + " WHERE id = " + to_string(id));
  }
  std::vector<TaskId> loaded() {
    std::vector<TaskId> ids;
    const ShardCursor from{};
    const auto reply = store->load({.name_space = test::kNamespace, .from = {&from, 1}}).value();
    for (const auto& task : reply.tasks) ids.push_back(task.id);
    return ids;
  }
  std::vector<TaskId> claimed(const std::vector<Ticket>& tickets) {
    std::vector<TaskId> ids;
    const auto reply = store->claim({tickets, "worker", 30s});
    EXPECT_TRUE(reply) << to_string(reply.error());
    if (!reply) return ids;
    for (const TaskRecord& record : reply->won) ids.push_back(record.info.id);
    return ids;
  }

  const test::TestDatabase database{GetParam()};
  const std::unique_ptr<Store> store = open_store(
      database.url() + "?shards=1" + (GetParam() == ServerKind::postgres ? "&sslmode=disable" : ""), system_clock());
};
ON_EACH_SERVER(BadRows);

TEST_P(BadRows, ThatCannotBeClaimedAreNotLoadedAndDoNotKeepOthersFromIt) {
  for (const char* nonsense : kUnclaimable) {
    SCOPED_TRACE(nonsense);
    const Ticket bad = insert(a_task());
    const Ticket good = insert(a_task());
    edit(bad.id, nonsense);
    EXPECT_THAT(loaded(), ElementsAre(good.id));
    EXPECT_THAT(claimed({bad, good}), ElementsAre(good.id));
    EXPECT_EQ(store->find({&bad.id, 1}).value().size(), 1U) << "still shown";
  }
}

TEST_P(BadRows, ThatAreOddAreClaimedAndSettledWithTheOthers) {
  for (const char* odd : kOdd) {
    SCOPED_TRACE(odd);
    const Ticket bad = insert(a_task());
    const Ticket good = insert(a_task());
    edit(bad.id, odd);
    EXPECT_THAT(loaded(), UnorderedElementsAre(bad.id, good.id));
    EXPECT_THAT(claimed({bad, good}), UnorderedElementsAre(bad.id, good.id));
    std::vector<Settlement> settlements(2);
    settlements[0].ticket = {bad.id, bad.version + 1};
    settlements[1].ticket = {good.id, good.version + 1};
    EXPECT_THAT(store->settle(settlements).value().applied, ElementsAre(true, true));
    EXPECT_EQ(store->find({&bad.id, 1}).value().size(), 1U);
  }
}

TEST_P(BadRows, WhoseIdIsInHistoryAlreadyEndWithTheOthersOfALargeBatch) {
  const Ticket ended = insert(a_task());
  ASSERT_THAT(claimed({ended}), ElementsAre(ended.id));
  std::vector<Settlement> settlements(1);
  settlements[0].ticket = {ended.id, ended.version + 1};
  ASSERT_THAT(store->settle(settlements).value().applied, ElementsAre(true));

  std::vector<Ticket> tickets;
  for (int i = 0; i < 300; ++i) tickets.push_back(insert(a_task()));
  ASSERT_EQ(claimed(tickets).size(), 300U);
  edit(tickets[123].id, "id = " + to_string(ended.id));
  tickets[123].id = ended.id;
  settlements.resize(300);
  for (std::size_t i = 0; i < 300; ++i) settlements[i].ticket = {tickets[i].id, tickets[i].version + 1};
  EXPECT_THAT(store->settle(settlements).value().applied, Each(true));
  EXPECT_EQ(store->find({&ended.id, 1}).value().size(), 1U);
}

TEST_P(BadRows, ThatCannotBeClaimedCanBeCancelledWithOthers) {
  for (const char* nonsense : kUnclaimable) {
    SCOPED_TRACE(nonsense);
    const Ticket running = insert(a_task());
    EXPECT_THAT(claimed({running}), ElementsAre(running.id));
    const std::vector<TaskId> ids{insert(a_task()).id, insert(a_task()).id, running.id};
    edit(ids[0], nonsense);
    EXPECT_THAT(store->end(test::endings(ids)).value().applied, ElementsAre(true, true, true));
    EXPECT_EQ(store->count({}).value(), 0);
  }
}

// An engine runs the other tasks, and parks the one whose arguments cannot be read.
TEST_P(BadRows, DoNotKeepAnEngineFromTheOthers) {
  std::atomic<int> done_well{0};
  EngineOptions options;
  options.window = 100ms;
  Engine engine{database.url() + "?shards=1", options};
  auto work = engine.retryable(
      "work",
      [&](const std::string& which) -> Answer {
        if (which.starts_with("fails")) return retry_later("once more");
        if (which.starts_with("good")) ++done_well;
        return done();
      },
      Policy{.backoff = Fixed{10ms}, .stop = {.max_attempts = 2}});
  std::vector<std::string> edits{std::begin(kUnclaimable), std::end(kUnclaimable)};
  edits.insert(edits.end(), std::begin(kOdd), std::end(kOdd));
  for (const std::string& nonsense : edits) {
    edit(work.submit("works with " + nonsense), nonsense);
    edit(work.submit("fails with " + nonsense), nonsense);
  }
  const TaskId unreadable = work.submit(std::string{"unreadable"});
  edit(unreadable, "params_json = '[broken'");
  for (int i = 0; i < 10; ++i) work.submit("good " + std::to_string(i));
  engine.start();
  EXPECT_TRUE(test::eventually([&] { return done_well == 10; }));
  EXPECT_TRUE(test::eventually([&] {
    const auto task = engine.find(unreadable);
    return task && task->outcome == Outcome::parked;
  }));
  // One failing task is retried without end: a limit below 0 means no limit.
  constexpr auto kTriedOn = 1;
  EXPECT_TRUE(test::eventually([&] { return store->count({}).value() == 2 * std::ssize(kUnclaimable) + kTriedOn; }));
}

}  // namespace
}  // namespace easyretry::storage
