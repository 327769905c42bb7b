#include <utility>

#include "storage/mysql/connection.h"
#include "unit/mysql/support.h"

namespace easyretry::storage::mysql {
namespace {

TEST(MysqlErrors, NumbersDecideWhatTheCallerDoesNext) {
  const std::pair<unsigned, Trouble> known[] = {
      {1020, Trouble::again},      {1205, Trouble::locked},     {1213, Trouble::again},
      {3572, Trouble::locked},     {1047, Trouble::gone},       {1053, Trouble::gone},
      {1927, Trouble::gone},       {2002, Trouble::gone},       {2006, Trouble::gone},
      {2013, Trouble::gone},       {1040, Trouble::overloaded}, {1203, Trouble::overloaded},
      {1021, Trouble::overloaded}, {1114, Trouble::overloaded}, {1290, Trouble::overloaded},
      {1792, Trouble::overloaded}, {1969, Trouble::overloaded}, {3024, Trouble::overloaded},
      {1317, Trouble::overloaded}, {1044, Trouble::refused},    {1045, Trouble::refused},
      {1049, Trouble::refused},    {1142, Trouble::refused},    {1698, Trouble::refused},
      {1406, Trouble::bad_data},   {1366, Trouble::bad_data},   {1264, Trouble::bad_data},
      {1153, Trouble::bad_data},
  };
  for (const auto& [code, meaning] : known) EXPECT_EQ(trouble_of(code), meaning) << code;
}

TEST(MysqlErrors, AnUnknownNumberMeansLater) {
  EXPECT_EQ(trouble_of(1), Trouble::overloaded);
  EXPECT_EQ(trouble_of(65535), Trouble::overloaded);
}

TEST(MysqlErrors, AnyErrorOfTheClientLibraryEndsAnOpenConnection) {
  EXPECT_TRUE(loses_connection(2026));  // TLS: refused while connecting
  EXPECT_TRUE(loses_connection(2000));
  EXPECT_TRUE(loses_connection(1053));
  EXPECT_FALSE(loses_connection(2020));
  EXPECT_FALSE(loses_connection(1213));
}

TEST(MysqlErrors, AMessageSaysWhatToDo) {
  const auto error = server_error(1049, "Unknown database 'shop'");
  EXPECT_STREQ(error.what(), "Unknown database 'shop' (1049): create it: CREATE DATABASE <database>");
  EXPECT_STREQ(server_error(1213, "Deadlock found").what(), "Deadlock found (1213)");
}

TEST_F(MysqlTest, AWrongPasswordIsRefusedAndNotTold) {
  MysqlAddress wrong = address();
  wrong.password = "tip-top-secret";
  const auto [what, why] = trouble([&] { connect_mysql(wrong); });
  EXPECT_EQ(what, Trouble::refused);
  EXPECT_THAT(why, HasSubstr("check the user and the password"));
  EXPECT_THAT(why, ::testing::Not(HasSubstr("tip-top")));
}

TEST_F(MysqlTest, AMissingDatabaseAndMissingRightsAreRefused) {
  MysqlAddress missing = address();
  missing.database = "easyretry_none";
  EXPECT_EQ(trouble([&] { connect_mysql(missing); }).first, Trouble::refused);
  missing.database = "mysql";
  const auto [what, why] = trouble([&] { connect_mysql(missing); });
  EXPECT_EQ(what, Trouble::refused);
  EXPECT_THAT(why, HasSubstr("GRANT SELECT, INSERT"));
}

TEST(MysqlErrors, WhereNothingListensTheServerIsGone) {
  EXPECT_EQ(trouble([] { connect_mysql(address_at(1)); }).first, Trouble::gone);
  MysqlAddress nowhere = address_at(1);
  nowhere.socket = "/nowhere/mysql.sock";
  EXPECT_EQ(trouble([&] { connect_mysql(nowhere); }).first, Trouble::gone);
}

TEST_F(MysqlTest, ARowHeldForTooLongMeansLocked) {
  const TaskRecord running = claimed(a_task());
  MysqlAddress hasty = address();
  hasty.lock_timeout = 1s;
  const auto other = connect_mysql(hasty);
  session->begin(Promise::kept);
  session->lock(kTable, {&running.info.id, 1});
  const Settlement settlement = settlement_of(ticket_of(running), Settlement::Kind::retry);
  other->begin(Promise::kept);
  EXPECT_EQ(trouble([&] { other->reschedule(kTable, {&settlement, 1}, kMarch); }).first, Trouble::locked);
  other->roll_back();
  session->roll_back();
  EXPECT_FALSE(other->broken());
  other->begin(Promise::kept);
  EXPECT_EQ(other->reschedule(kTable, {&settlement, 1}, kMarch).size(), 1U);
  other->commit();
}

TEST_F(MysqlTest, AStatementThatTakesTooLongIsEndedAndTheSessionLives) {
  const TaskRecord running = claimed(a_task());
  MysqlAddress hasty = address();
  hasty.statement_timeout = 1s;
  const auto other = connect_mysql(hasty);
  session->begin(Promise::kept);
  session->lock(kTable, {&running.info.id, 1});
  other->begin(Promise::kept);
  const auto [what, why] = trouble([&] { other->lock(kTable, {&running.info.id, 1}); });
  EXPECT_EQ(what, Trouble::overloaded);
  EXPECT_THAT(why, HasSubstr("took too long"));
  session->roll_back();
  other->roll_back();
  EXPECT_FALSE(other->broken());
  EXPECT_GT(other->now(), kMarch);
}

TEST_F(MysqlTest, AnErrorLeavesTheSessionUsableAfterARollback) {
  session->begin(Promise::kept);
  EXPECT_EQ(trouble([&] { session->lock("retry_none", std::vector{TaskId{1}}); }).first, Trouble::no_table);
  session->roll_back();
  EXPECT_FALSE(session->broken());
  inserted(a_task());
}

}  // namespace
}  // namespace easyretry::storage::mysql
