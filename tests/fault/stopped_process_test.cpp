// A process that is stopped for longer than its lease does not know it when it goes on; the fence does.

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>

#include <easyretry/easyretry.h>

#include "fault/child.h"
#include "fault/each_server.h"
#include "storage/open.h"
#include "support/temp_folder.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoppedProcess : public OnEachServer {
 protected:
  Child worker(const std::string& answer) {
    return Child{STOPPED_WORKER, {database_.url(), answer, signal_for(answer).string()}};
  }
  std::filesystem::path signal_for(const std::string& answer) const { return folder_.path() / answer; }
  void let_answer(const std::string& answer) const { std::ofstream{signal_for(answer)}; }

  void submit() {
    Engine engine{database_.url()};
    engine.retryable("work", [] { return done(); }).submit();
  }

  std::vector<storage::TaskRecord> tasks(bool finished) {
    storage::TaskQuery query;
    query.name_space = "default";
    query.finished = finished;
    return store_->list(query).value();
  }

  const test::TempFolder folder_;
  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<storage::Store> store_ = storage::open_store(database_.url(), system_clock());
};
ON_EACH_SERVER(StoppedProcess);
ON_REDIS(StoppedProcess);

TEST_P(StoppedProcess, SettlesTooLateAndChangesNothing) {
  submit();
  Child late = worker("give_up");
  ASSERT_EQ(late.read_line(), "started 2");
  ::kill(late.pid(), SIGSTOP);

  Child other = worker("done");
  ASSERT_EQ(other.read_line(), "started 3") << "the lease expired, and no instance took the task";
  const auto taken = tasks(false);

  ::kill(late.pid(), SIGCONT);
  let_answer("give_up");
  EXPECT_EQ(late.read_line(), "stale");
  late.wait();
  const auto still = tasks(false);
  ASSERT_THAT(still, SizeIs(1));
  EXPECT_EQ(still[0].info.version, 3);
  EXPECT_EQ(still[0].locked_by, taken.at(0).locked_by);

  let_answer("done");
  EXPECT_EQ(other.read_line(), "settled");
  other.wait();
  EXPECT_THAT(tasks(false), IsEmpty());
  const auto ended = tasks(true);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].info.outcome, Outcome::succeeded);
  EXPECT_EQ(ended[0].info.version, 4);
  EXPECT_EQ(ended[0].info.crashes, 1);
  EXPECT_EQ(ended[0].info.deliveries, 2);
}

}  // namespace
}  // namespace easyretry::fault
