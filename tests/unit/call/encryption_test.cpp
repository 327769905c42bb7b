// How arguments and results are stored if the engine has keys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <easyretry/testing.h>

#include "support/eventually.h"
#include "support/temp_folder.h"

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

EncryptionKey key(const std::string& id, char digit) {
  return EncryptionKey::from_hex(id, std::string(62, digit) + "01");
}

struct Encrypted : ::testing::Test {
  test::TempFolder folder;

  static EngineOptions options(std::string current, std::vector<EncryptionKey> keys) {
    EngineOptions options;
    options.log = nullptr;
    options.encryption.current = std::move(current);
    options.encryption.keys = std::move(keys);
    return options;
  }
  std::unique_ptr<easyretry::testing::ManualEngine> open(const EngineOptions& options) {
    return std::make_unique<easyretry::testing::ManualEngine>(options, folder.sqlite_url());
  }

  std::string sql(const std::string& statement) const {
    sqlite3* db = nullptr;
    sqlite3_open((folder.path() / "retry.db").c_str(), &db);
    std::string first;
    sqlite3_exec(
        db, statement.c_str(),
        [](void* into, int, char** values, char**) {
          if (values[0] != nullptr) *static_cast<std::string*>(into) = values[0];
          return 0;
        },
        &first, nullptr);
    sqlite3_close(db);
    return first;
  }
};

TEST_F(Encrypted, ArgumentsAreUnreadableInTheStoreAndWholeInTheHandler) {
  std::string seen;
  auto engine = open(options("a", {key("a", '1')}));
  auto pay = engine->retryable("pay", [&](const std::string& card) { seen = card; });
  pay.submit("4111-1111");
  EXPECT_THAT(sql("SELECT params_json FROM retry_task"), AllOf(HasSubstr("$sealed"), Not(HasSubstr("4111"))));
  EXPECT_THAT(sql("SELECT task_key FROM retry_task"), Not(HasSubstr("b1e29f43ea2b5b7a1f49fc0dd4dd5b90")));
  engine->run_due();
  EXPECT_EQ(seen, "4111-1111");
}

TEST_F(Encrypted, SealedArgumentsGoWhenTheirHandlerDoesNotKeepThemAnyLonger) {
  TaskId id{};
  {
    auto engine = open(options("a", {key("a", '1')}));
    auto pay = engine->retryable("pay", [](const std::string&) {});
    id = pay.submit("4111-1111");
    engine->run_due();
  }
  EXPECT_THAT(sql("SELECT params_json FROM retry_call"), HasSubstr("$sealed"));
  // Its clock is that of today, more than a year later.
  Engine engine{folder.sqlite_url() + "?keep_months=10000", options("a", {key("a", '1')})};
  auto pay = engine.retryable(
      "pay", [](const std::string&) {}, Policy{}, HandlerOptions{.keep_args = 24h});
  engine.start();
  EXPECT_TRUE(test::eventually([&] { return sql("SELECT params_json IS NULL FROM retry_call") == "1"; }));
  EXPECT_EQ(engine.find(id)->outcome, Outcome::succeeded);
  try {
    engine.requeue(id);
    FAIL() << "requeued without arguments";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("keep_args"));
  }
}

TEST_F(Encrypted, OtherArgumentsOfARequeuedTaskAreSealedToo) {
  std::string seen;
  auto engine = open(options("a", {key("a", '1')}));
  auto pay = engine->retryable("pay", [&](const std::string& card) { seen = card; });
  const TaskId id = pay.submit("4111-1111");
  engine->run_due();
  ASSERT_TRUE(engine->requeue_with(id, std::string{"4222-2222"}));
  EXPECT_THAT(sql("SELECT params_json FROM retry_task"), AllOf(HasSubstr("$sealed"), Not(HasSubstr("4222"))));
  engine->run_due();
  EXPECT_EQ(seen, "4222-2222");
}

TEST_F(Encrypted, EqualArgumentsAreStillOneTask) {
  auto engine = open(options("a", {key("a", '1')}));
  auto pay = engine->retryable("pay", [](const std::string&) {});
  EXPECT_EQ(pay.submit("x"), pay.submit("x"));
}

TEST_F(Encrypted, ExpressionsSeePlainArguments) {
  auto engine = open(options("a", {key("a", '1')}));
  int calls = 0;
  auto pay = engine->retryable("pay", [&](const std::string&) { return ++calls; },
                               {.backoff = Fixed{1s}, .success_when = "args[1] == 'x' and result == 2"});
  pay.submit("x");
  engine->drain();
  EXPECT_EQ(calls, 2);
}

TEST_F(Encrypted, AfterARotationOldTasksAreReadWithTheirOldKey) {
  open(options("a", {key("a", '1')}))->retryable("pay", [](const std::string&) {}).submit("old");
  std::vector<std::string> seen;
  auto engine = open(options("b", {key("a", '1'), key("b", '2')}));
  auto pay = engine->retryable("pay", [&](const std::string& card) { seen.push_back(card); });
  pay.submit("new");
  engine->run_due();
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("old", "new"));
}

TEST_F(Encrypted, ATaskThatCannotBeDecryptedIsParkedWithTheReasonAndNotLost) {
  TaskId id{};
  {
    auto engine = open(options("a", {key("a", '1')}));
    id = engine->retryable("pay", [](const std::string&) {}).submit("old");
  }
  int calls = 0;
  auto engine = open(options("b", {key("b", '2')}));
  engine->retryable("pay", [&](const std::string&) { ++calls; });
  engine->drain();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(engine->find(id)->outcome, Outcome::parked);
  EXPECT_THAT(engine->find(id)->last_error, HasSubstr("\"a\""));
}

TEST_F(Encrypted, RowsThatWereSwappedAreParked) {
  TaskId one{};
  TaskId two{};
  {
    auto engine = open(options("a", {key("a", '1')}));
    auto pay = engine->retryable("pay", [](const std::string&) {});
    one = pay.submit("one");
    two = pay.submit("two");
  }
  sql("UPDATE retry_call SET params_json = (SELECT params_json FROM retry_task WHERE id = " + to_string(two) +
      ") WHERE id = " + to_string(one));
  std::vector<std::string> seen;
  auto engine = open(options("a", {key("a", '1')}));
  engine->retryable("pay", [&](const std::string& card) { seen.push_back(card); });
  engine->drain();
  EXPECT_THAT(seen, ::testing::ElementsAre("two"));
  EXPECT_EQ(engine->find(one)->outcome, Outcome::parked);
}

TEST_F(Encrypted, AResultThatWaitsForItsCallbackIsSealedToo) {
  auto engine = open(options("a", {key("a", '1')}));
  auto pay = engine->retryable("pay", [](int) { return std::string{"secret receipt"}; });
  std::string told;
  int tries = 0;
  pay.on_success([&](const std::string& receipt, const TaskInfo&) {
    if (++tries == 1) throw std::runtime_error("the ledger is locked");
    told = receipt;
  });
  pay.submit(1);
  engine->run_due();
  EXPECT_THAT(sql("SELECT result_json FROM retry_task"), AllOf(HasSubstr("$sealed"), Not(HasSubstr("secret"))));
  engine->drain();
  EXPECT_EQ(told, "secret receipt");
}

TEST_F(Encrypted, KeysThatCannotWorkAreRefusedWhenTheEngineIsMade) {
  EXPECT_THROW(open(options("missing", {key("a", '1')})), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry
