// shared=yes: tasks beside the tables of an application, in its own database.

#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::AllOf;

class SqliteSharedFile : public SqliteTest {
 protected:
  SqliteSharedFile() { by_hand("CREATE TABLE invoices (id INTEGER); INSERT INTO invoices VALUES (7)"); }
  SqliteOptions shared() {
    SqliteOptions wanted = options();
    wanted.shared = true;
    return wanted;
  }
};

TEST_F(SqliteSharedFile, IsRefusedWithTheWordThatIsMissing) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr("another application"), HasSubstr("?shared=yes")));
}

TEST_F(SqliteSharedFile, KeepsTheApplicationsTablesAndItsName) {
  by_hand("PRAGMA application_id = 42");
  open(shared());
  insert(a_task());
  close();
  EXPECT_EQ(ask("SELECT id FROM invoices"), 7);
  EXPECT_EQ(ask("PRAGMA application_id"), 42);
}

TEST_F(SqliteSharedFile, KeepsItsTasksOverARestart) {
  open(shared());
  const Inserted task = insert(a_task());
  close();
  open(shared());
  EXPECT_EQ(must(store().find({&task.id, 1})).size(), 1U);
}

TEST_F(SqliteSharedFile, MustBeCalledSharedAgain) {
  open(shared());
  close();
  EXPECT_THAT(refusal(), HasSubstr("?shared=yes"));
}

TEST_F(SqliteSharedFile, OfANewerReleaseIsRefused) {
  open(shared());
  close();
  by_hand("UPDATE retry_meta SET value = '99' WHERE name = 'schema_version'");
  EXPECT_THAT(refusal(shared()), HasSubstr("made by a newer release"));
}

TEST_F(SqliteSharedFile, MayHaveNoTableOfOurNames) {
  by_hand("CREATE TABLE retry_state (id INTEGER); INSERT INTO retry_state VALUES (3)");
  EXPECT_THAT(refusal(shared()), AllOf(HasSubstr("retry_state"), HasSubstr("already exists")));
  EXPECT_EQ(ask("SELECT id FROM retry_state"), 3);
  EXPECT_EQ(ask("SELECT count(*) FROM sqlite_schema"), 2) << "nothing was left half made";
}

TEST_F(SqliteTest, AFileOfOurOwnMayBeCalledSharedLater) {
  open();
  const Inserted task = insert(a_task());
  SqliteOptions shared = options();
  shared.shared = true;
  open(shared);
  EXPECT_EQ(must(store().find({&task.id, 1})).size(), 1U);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
