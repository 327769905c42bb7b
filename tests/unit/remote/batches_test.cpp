// Batches of an engine on a daemon that do not fit into one request.

#include <mutex>
#include <set>

#include "remote/remote_store.h"
#include "support/cutting_proxy.h"
#include "unit/remote/support.h"

namespace easyretry::test {
namespace {

using namespace std::chrono_literals;

// A request holds 8 MiB: these take two.
struct RemoteBatches : RemoteTest {
  static constexpr int kTasks = 12;

  using Work = Retryable<void, std::tuple<std::string, int>>;
  static Work work_on(Engine& engine) {
    return engine.retryable("work", [](const std::string&, int) {});
  }
  template <class Options>
  static std::vector<TaskId> submit(const Work& work, Options options_of) {
    std::vector<std::tuple<std::string, int>> all;
    for (int i = 0; i < kTasks; ++i) all.emplace_back(std::string(1'000'000, 'x'), i);
    return work.submit_many(all, [&](const auto& one) { return options_of(std::get<1>(one)); });
  }
  static SubmitOptions unique(int i) { return {.key = "k" + std::to_string(i), .on_duplicate = OnDuplicate::reject}; }
};

TEST_F(RemoteBatches, OfSeveralRequestsAreStoredInOrder) {
  EXPECT_EQ(remote::kMostBodyBytes, server::kLongBody);
  RemoteEngine engine{url, options()};
  const auto ids = submit(work_on(engine), unique);
  ASSERT_EQ(ids.size(), std::size_t{kTasks});
  for (int i = 0; i < kTasks; ++i) EXPECT_EQ(engine.find(ids.at(i))->key, "k" + std::to_string(i));
}

TEST_F(RemoteBatches, OfSeveralRequestsAreNotStoredIfTheLastKeyIsTaken) {
  RemoteEngine engine{url, options()};
  const Work work = work_on(engine);
  work.with({.key = "k11"}).submit("", 0);
  EXPECT_THROW(submit(work, unique), DuplicateTask);
  EXPECT_EQ(engine.list({}).size(), 1U);
}

TEST_F(RemoteBatches, OfWhichOnlyTheFirstRequestArrivesAreInDoubt) {
  CuttingProxy proxy{port};
  RemoteEngine engine{"http://127.0.0.1:" + std::to_string(proxy.port()), options()};
  ASSERT_TRUE(engine.list({}).empty());  // over a connection that is open from now on
  proxy.die_after(Direction::to_server, 10'000'000);
  try {
    submit(work_on(engine), [](int i) { return SubmitOptions{.key = "k" + std::to_string(i)}; });
    FAIL() << "accepted";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), Errc::in_doubt);
    EXPECT_THAT(error.what(), HasSubstr("the first 8 tasks of the batch are stored"));
  }
  EXPECT_EQ((RemoteEngine{url, options()}.list({}).size()), 8U);
}

TEST_F(RemoteBatches, ATaskThatNoRequestCanHoldIsRefused) {
  RemoteOptions large = options();
  large.engine.max_payload = 20'000'000;
  RemoteEngine engine{url, large};
  auto work = engine.retryable("work", [](const std::string&) {});
  EXPECT_THAT(refusal([&] { work.submit(std::string(9'000'000, 'x')); }),
              HasSubstr("but a daemon accepts 8388608 bytes"));
  EXPECT_TRUE(engine.list({}).empty());
}

TEST_F(RemoteBatches, OfOutcomesAreSettledInSeveralRequests) {
  RemoteEngine engine{url, options()};
  std::set<std::string> refused;
  std::mutex mutex;
  std::atomic<int> told{0};
  auto makes = engine.retryable("makes", [](int) { return std::string(1'000'000, 'x'); }, {.backoff = Fixed{10ms}});
  makes.on_success([&](const std::string&, const TaskInfo& task) {
    const std::lock_guard lock{mutex};
    if (refused.insert(task.key).second) throw std::runtime_error("not now");
    ++told;
  });
  std::vector<int> numbers;
  for (int i = 0; i < 2 * kTasks; ++i) numbers.push_back(i);
  makes.submit_many(numbers);
  engine.start();
  EXPECT_TRUE(eventually([&] { return engine.list({}).empty(); }));
  EXPECT_EQ(told, 2 * kTasks);
  EXPECT_EQ(engine.stats().stale_settles, 0U);
}

TEST_F(RemoteBatches, OfOutcomesWhoseSecondRequestIsLostAreUnansweredInPart) {
  RemoteEngine engine{url, options()};
  std::vector<int> numbers;
  for (int i = 0; i < kTasks; ++i) numbers.push_back(i);
  engine.retryable("makes", [](int) {}).submit_many(numbers);
  CuttingProxy proxy{port};
  remote::RemoteStore store{{"http://127.0.0.1:" + std::to_string(proxy.port()), application, "default", ""}, false};
  std::vector<task::Settlement> outcomes;
  while (outcomes.size() < std::size_t{kTasks}) {
    const auto leased = store.lease({.handlers = {"makes"}, .most = kTasks, .wait = 5s, .lease = 60s}, {});
    ASSERT_TRUE(leased);
    for (const task::TaskRecord& task : leased->tasks) {
      auto& outcome = outcomes.emplace_back();
      outcome.ticket = {task.info.id, task.info.version};
      outcome.kind = task::Settlement::Kind::advance;
      outcome.stage = Stage::on_success;
      outcome.result = "\"" + std::string(1'000'000, 'x') + "\"";
    }
  }
  proxy.cut_after(Direction::to_server, 10'000'000);
  const auto reply = store.settle(outcomes);
  ASSERT_TRUE(reply);
  ASSERT_TRUE(reply->trouble);
  EXPECT_EQ(reply->trouble->code, Errc::in_doubt);
  EXPECT_EQ(reply->unanswered, (std::vector<std::size_t>{8, 9, 10, 11}));
  for (std::size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(reply->applied[i], i < 8) << i;
  const auto again = store.settle(std::span{outcomes}.subspan(8));
  ASSERT_TRUE(again);
  EXPECT_THAT(again->applied, ::testing::Each(true));
}

}  // namespace
}  // namespace easyretry::test
