// The records of a claim are read after its commit. Meanwhile, other processes may have changed them.

#include "storage/sqlite/reads.h"
#include "support/endings.h"
#include "unit/storage/sqlite/faulty_disk.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class SqliteClaimedRows : public SqliteTest {
 protected:
  SqliteClaimedRows() {
    open();
    const TaskRecord running = claim(insert(a_task()));
    ticket = {running.info.id, running.info.version};
  }
  std::vector<TaskRecord> read() { return ClaimedRows{file(), trust}.read({&ticket, 1}, "worker"); }

  Trust trust{file()};
  Ticket ticket;
};

TEST_F(SqliteClaimedRows, AreReturnedAsTheClaimLeftThem) {
  const auto rows = read();
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].info.version, ticket.version);
  EXPECT_EQ(rows[0].info.attempts, 1);
  EXPECT_EQ(rows[0].locked_by, "worker");
}

TEST_F(SqliteClaimedRows, AreLeftOutIfAnotherProcessChangedThem) {
  for (const char* change :
       {"version = version + 1", "status = 'PENDING'", "locked_by = 'another'", "locked_by = NULL"}) {
    by_hand("CREATE TABLE before AS SELECT * FROM retry_state");
    by_hand(std::string{"UPDATE retry_state SET "} + change);
    EXPECT_THAT(read(), IsEmpty()) << change;
    by_hand("DELETE FROM retry_state; INSERT INTO retry_state SELECT * FROM before; DROP TABLE before");
    EXPECT_THAT(read(), SizeIs(1));
  }
}

TEST_F(SqliteClaimedRows, AreLeftOutIfTheTaskWasCancelled) {
  must(store().end(test::endings({&ticket.id, 1}, {.tell = true})));
  EXPECT_THAT(read(), IsEmpty());
  must(store().end(test::endings({&ticket.id, 1})));
  EXPECT_THAT(read(), IsEmpty());
}

TEST_F(SqliteTest, ATaskWonTwiceInABatchIsGivenAsItWasEachTime) {
  open();
  const Inserted task = insert(a_task());
  const std::vector<Ticket> tickets{{task.id, task.version}, {task.id, task.version + 1}};
  const auto won = must(store().claim({.tickets = tickets, .owner = "worker", .lease = 0s})).won;
  ASSERT_THAT(won, SizeIs(2));
  EXPECT_EQ(won[0].info.version, task.version + 1);
  EXPECT_EQ(won[1].info.version, task.version + 2);
}

TEST_F(SqliteTest, AClaimWhoseRowsCannotBeReadIsInDoubtAndFoundByItsOwner) {
  FaultyDisk disk;
  open();
  const Inserted task = insert(a_task());
  const Ticket ticket{task.id, task.version};
  disk.fail_reads(1);
  const auto reply = store().claim({.tickets = {&ticket, 1}, .owner = "worker", .lease = 30s});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::in_doubt);
  const auto found = must(store().find({&task.id, 1}));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].locked_by, "worker");
  EXPECT_EQ(found[0].info.version, task.version + 1);
  close();
}

}  // namespace
}  // namespace easyretry::storage::sqlite
