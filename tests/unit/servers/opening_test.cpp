// Errors of opening a store on a database server, and their messages.

#include <string>

#include <gmock/gmock.h>

#include <easyretry/error.h>

#include "fault/each_server.h"
#include "storage/history.h"
#include "storage/open.h"
#include "support/line_at_start.h"
#include "support/plain_sql.h"
#include "support/refusal.h"
#include "support/task_builder.h"
#include "support/test_database.h"

namespace easyretry::storage {
namespace {

using fault::kind_name;
using fault::OnEachServer;
using test::ServerKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& url) {
  return test::refusal<StoreError>([&] { open_store(url, system_clock()); });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

class Opening : public OnEachServer {
 protected:
  bool postgres() const { return GetParam() == ServerKind::postgres; }
  // Someone else's hand: a shell, a script.
  std::string by_hand(const std::string& statement) const {
    return test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database.name())->run(statement);
  }
  void open() const { open_store(database.url(), system_clock()); }

  const test::TestDatabase database{GetParam()};
};
ON_EACH_SERVER(Opening);

TEST_P(Opening, AWrongPasswordAndAWrongUserAreToldAndNoSecretIsShown) {
  EXPECT_THAT(refusal(replaced(database.url(), "secret", "hunter2")),
              AllOf(HasSubstr("check the user and the password"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal(replaced(database.url(), "easyretry:", "nobody:")),
              AllOf(HasSubstr("nobody"), HasSubstr("check the user and the password"), Not(HasSubstr("secret"))));
}

TEST_P(Opening, AnEngineLogsTheDurabilityWithoutSecrets) {
  const auto [level, line] = test::line_at_start(database.url());
  EXPECT_EQ(level, LogLevel::info);
  EXPECT_THAT(line, AllOf(HasSubstr(database.name() + ": an acknowledged task survives a crash of the server process"),
                          Not(HasSubstr("secret"))));
}

TEST_P(Opening, AMissingDatabaseIsReportedWithARemedy) {
  EXPECT_THAT(refusal(replaced(database.url(), database.name(), "easyretry_nowhere")),
              AllOf(HasSubstr("easyretry_nowhere"), HasSubstr("CREATE DATABASE"), Not(HasSubstr("secret"))));
}

TEST_P(Opening, ATableWithoutAColumnIsRefusedByItsNameWithTheRemedy) {
  for (const std::string column : {"progress", "lease_until"}) {
    open();
    by_hand("ALTER TABLE retry_task DROP COLUMN " + column);
    EXPECT_THAT(refusal(database.url()),
                AllOf(HasSubstr("retry_task: "), HasSubstr(column), HasSubstr("rename the table")));
    by_hand("ALTER TABLE retry_task RENAME TO retry_old_" + column);
    if (postgres()) by_hand("DROP TABLE retry_old_" + column);  // which keeps the names of the indexes
  }
  open();
}

TEST_P(Opening, ATableWithoutAnIndexGetsItBackOrIsRefusedByItsName) {
  open();
  if (postgres()) {
    by_hand("DROP INDEX retry_task_due");
    open();
    EXPECT_EQ(by_hand("SELECT indexname FROM pg_indexes WHERE indexname = 'retry_task_due'"), "retry_task_due");
    return;
  }
  by_hand("ALTER TABLE retry_task DROP INDEX idx_next_retry");
  EXPECT_THAT(refusal(database.url()),
              AllOf(HasSubstr("retry_task: "), HasSubstr("idx_next_retry"), HasSubstr("rename the table")));
}

TEST_P(Opening, AMonthOfHistoryWithoutAColumnIsNamed) {
  const std::string month = history_table(system_clock().now());
  by_hand("CREATE TABLE " + month + " (id bigint)");
  const auto store = open_store(database.url(), system_clock());
  const task::NewTask task = test::a_task();
  const auto refused = store->insert({&task, 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_THAT(refused.error().detail, AllOf(HasSubstr(month + ": "), HasSubstr("rename the table")));
  by_hand("DROP TABLE " + month);
  EXPECT_TRUE(store->insert({&task, 1})) << "without a restart";
}

}  // namespace
}  // namespace easyretry::storage
