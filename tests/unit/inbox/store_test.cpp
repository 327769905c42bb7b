// The verb under it.

#include "storage/open.h"
#include "support/task_builder.h"
#include "unit/inbox/support.h"

namespace easyretry::storage {
namespace {

class InboxStore : public Inbox {
 protected:
  static NewTask task_of(const InboxRow& row) { return test::a_task().name_space("default").handler(row.handler); }
  Result<IntakeReply> take(const Convert& convert, std::size_t limit = 100) {
    return store->take_in({"default", handlers, limit}, convert);
  }

  const std::vector<std::string> handlers{"pay"};
  const std::unique_ptr<Store> store = open_store(url(), system_clock());
};

INSTANTIATE_TEST_SUITE_P(Postgres, InboxStore, ::testing::Values(ServerKind::postgres));
INSTANTIATE_TEST_SUITE_P(Mariadb, InboxStore, ::testing::Values(ServerKind::mariadb));

TEST_P(InboxStore, SaysWhetherThereIsMore) {
  for (int i = 0; i < 3; ++i) ask_for("pay", "[]");
  const auto first = take(task_of, 2).value();
  EXPECT_EQ(first.inserted.size(), 2U);
  EXPECT_TRUE(first.more);
  const auto second = take(task_of, 2).value();
  EXPECT_EQ(second.inserted.size(), 1U);
  EXPECT_FALSE(second.more);
  EXPECT_EQ(in_the_inbox(), 0);
  EXPECT_EQ(store->count({}).value(), 3);
  EXPECT_EQ(store->counts("default").value()["pay"].live(), 3);
}

TEST_P(InboxStore, ARowThatTheServerRefusesAsATaskTakesNoOtherWithIt) {
  for (int i = 0; i < 4; ++i) ask_for("pay", "[" + std::to_string(i) + "]");
  const Convert convert = [](const InboxRow& row) -> tl::expected<NewTask, std::string> {
    NewTask task = task_of(row);
    if (row.payload == "[2]") task.key = std::string(10'000, '\xff');
    return task;
  };
  ASSERT_TRUE(eventually([&] { return take(convert) && store->count({}).value() == 3; }));
  EXPECT_EQ(in_the_inbox(), 1);
  EXPECT_NE(error(), "");
}

TEST_P(InboxStore, AFailureLeavesTheInboxUnchanged) {
  ask_for("pay", "[]");
  const auto failed =
      take([](const InboxRow&) -> tl::expected<NewTask, std::string> { throw std::runtime_error("no"); });
  EXPECT_FALSE(failed);
  EXPECT_EQ(in_the_inbox(), 1);
  EXPECT_EQ(error(), "");
}

TEST_P(InboxStore, ALoadTellsWhetherThereAreCallsOfTheHandlersAskedFor) {
  const std::vector<std::string> others{"refund"};
  const std::vector<ShardCursor> from{{.shard = ShardId{1}}};
  const auto told = [&](std::string_view name_space, const std::vector<std::string>& names) {
    return store->load({.name_space = name_space, .from = from, .handlers = names}).value().inbox;
  };
  EXPECT_FALSE(told("default", handlers));
  ask_for("pay", "[]");
  EXPECT_TRUE(told("default", handlers));
  EXPECT_FALSE(told("default", others));
  EXPECT_FALSE(told("default", {}));
  EXPECT_FALSE(told("bank", handlers));
  sql("UPDATE retry_inbox SET refused_at = 1");
  EXPECT_FALSE(told("default", handlers));
}

}  // namespace
}  // namespace easyretry::storage
