// Keys and business ids are found by hashes in a table of integers; the rows they lead to decide.

#include "storage/sqlite/calls.h"
#include "storage/sqlite/inserter.h"
#include "support/endings.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SqliteLookup : public SqliteTest {
 protected:
  std::vector<TaskId> listed(const TaskQuery& query) {
    std::vector<TaskId> ids;
    for (const TaskRecord& record : must(store().list(query))) ids.push_back(record.info.id);
    EXPECT_EQ(must(store().count(query)), static_cast<std::int64_t>(ids.size()));
    return ids;
  }
  std::int64_t entries(LookupPart part) {
    return ask("SELECT count(*) FROM retry_lookup WHERE part = " + std::to_string(static_cast<std::int64_t>(part)));
  }
  std::string all_entries() {
    Connection db{file(), Connection::Mode::create};
    return db.text("SELECT group_concat(part || ' ' || hash || ' ' || id, ';') FROM retry_lookup");
  }
  // As if this text had the same hash as the task's.
  void add_entry(LookupPart part, std::string_view text, TaskId id) {
    by_hand("INSERT INTO retry_lookup VALUES (" + std::to_string(static_cast<std::int64_t>(part)) + ", " +
            std::to_string(lookup_hash(text)) + ", " + to_string(id) + ")");
  }
  bool cancel(TaskId id) { return must(store().end(test::endings({&id, 1}))).applied.at(0); }
  void open_with(History history) {
    SqliteOptions wanted = options();
    wanted.history = history;
    wanted.full_sync = false;
    open(wanted);
  }
};

TEST_F(SqliteLookup, AnEntryStaysAsItWasWrittenFromTheTaskToItsHistory) {
  open();
  const Inserted task = insert(a_task().key("k").business("order", "42"));
  const std::string written = all_entries();
  settle(claim(task), Settlement::Kind::retry);
  EXPECT_EQ(all_entries(), written);
  settle(claim({.id = task.id, .version = 3}), Settlement::Kind::finish);
  EXPECT_EQ(all_entries(), written);
  EXPECT_THAT(listed({.finished = true, .key = "k"}), ElementsAre(task.id));
  EXPECT_THAT(listed({.finished = true, .business_id = "42"}), ElementsAre(task.id));
}

TEST_F(SqliteLookup, TwoLiveKeysThatShareAHashAreTwoTasks) {
  open();
  const Inserted one = insert(a_task().key("one"));
  add_entry(LookupPart::keys, "two", one.id);

  const Inserted two = insert(a_task().key("two"));
  EXPECT_TRUE(two.created);
  EXPECT_EQ(insert(a_task().key("two")).id, two.id);
  EXPECT_EQ(insert(a_task().key("one")).id, one.id);
  EXPECT_THAT(listed({.key = "one"}), ElementsAre(one.id));
  EXPECT_THAT(listed({.key = "two"}), ElementsAre(two.id));
}

TEST_F(SqliteLookup, AKeyThatSharesItsHashWithAFinishedOneHidesNeither) {
  open();
  const Inserted past = insert(a_task().key("one"));
  settle(claim(past), Settlement::Kind::finish);
  by_hand("UPDATE retry_lookup SET hash = " + std::to_string(lookup_hash("two")));

  const Inserted two = insert(a_task().key("two"));
  EXPECT_TRUE(two.created);
  EXPECT_EQ(entries(LookupPart::former_keys), 1);
  by_hand("UPDATE retry_lookup SET hash = " + std::to_string(lookup_hash("one")) + " WHERE id = " + to_string(past.id));
  EXPECT_THAT(listed({.finished = true, .key = "one"}), ElementsAre(past.id));
  EXPECT_THAT(listed({.finished = true, .key = "two"}), IsEmpty());
}

TEST_F(SqliteLookup, BusinessIdsThatShareAHashAreListedApart) {
  open();
  const Inserted one = insert(a_task().business("order", "1"));
  const Inserted two = insert(a_task().business("order", "2"));
  add_entry(LookupPart::businesses, "2", one.id);
  EXPECT_THAT(listed({.business_id = "1"}), ElementsAre(one.id));
  EXPECT_THAT(listed({.business_id = "2"}), ElementsAre(two.id));
}

TEST_F(SqliteLookup, OneKeyInTwoSpacesIsTwoTasks) {
  open();
  const Inserted shop = insert(a_task().key("k").name_space("shop"));
  const Inserted bank = insert(a_task().key("k").name_space("bank"));
  EXPECT_TRUE(bank.created);
  EXPECT_EQ(insert(a_task().key("k").name_space("shop")).id, shop.id);
  EXPECT_THAT(listed({.name_space = "bank", .key = "k"}), ElementsAre(bank.id));
  EXPECT_THAT(listed({.key = "k"}), ElementsAre(shop.id, bank.id));
}

TEST_F(SqliteLookup, AKeyUsedTwentyThousandTimesLeavesTwoEntriesWhereKeysAreLookedUp) {
  constexpr int kTimes = 20'000;
  open_with(History::all);
  const NewTask task = a_task().key("daily");
  for (int i = 0; i < kTimes; ++i) {
    const Inserted fresh = insert(task);
    ASSERT_TRUE(fresh.created) << i;
    ASSERT_TRUE(cancel(fresh.id)) << i;
  }
  EXPECT_LE(entries(LookupPart::keys), 2);
  EXPECT_EQ(must(store().count({.name_space = "shop", .finished = true, .key = "daily"})), kTimes);
}

TEST_F(SqliteLookup, PagesOfAKeyGoThroughItsWholePastInOrder) {
  open_with(History::all);
  std::vector<TaskId> all;
  for (int i = 0; i < 7; ++i) {
    all.push_back(insert(a_task().key("daily")).id);
    ASSERT_TRUE(cancel(all.back()));
    clock.advance(1ms);  // the ids of one millisecond may wrap around
  }
  std::vector<TaskId> seen;
  for (TaskQuery page{.finished = true, .key = "daily", .limit = 3}; seen.size() < all.size();
       page.after = seen.back()) {
    const auto records = must(store().list(page));
    ASSERT_THAT(records, ::testing::SizeIs(::testing::AllOf(::testing::Ge(1U), ::testing::Le(3U))));
    for (const TaskRecord& record : records) seen.push_back(record.info.id);
  }
  EXPECT_EQ(seen, all);
}

TEST_F(SqliteLookup, AManuallyWrittenDuplicateBlocksNoKey) {
  open();
  const Inserted past = insert(a_task().key("k"));
  ASSERT_TRUE(cancel(past.id));
  add_entry(LookupPart::former_keys, "k", past.id);
  EXPECT_TRUE(insert(a_task().key("k")).created);
  EXPECT_THAT(listed({.finished = true, .key = "k"}), ElementsAre(past.id));
}

TEST_F(SqliteLookup, AnEntryThatLeadsNowhereIsHarmless) {
  open();
  add_entry(LookupPart::keys, "k", TaskId{4711});
  add_entry(LookupPart::businesses, "42", TaskId{4711});
  EXPECT_THAT(listed({.key = "k"}), IsEmpty());
  EXPECT_THAT(listed({.business_id = "42"}), IsEmpty());
  EXPECT_TRUE(insert(a_task().key("k").business("order", "42")).created);
}

TEST_F(SqliteLookup, ANewGenerationIsFoundWithTheOldOne) {
  open();
  const Inserted old = insert(a_task().key("k").business("order", "42"));
  settle(claim(old), Settlement::Kind::finish, Outcome::exhausted);
  const TaskId fresh = must(store().requeue({&old.id, 1})).at(0).value();
  EXPECT_THAT(listed({.key = "k"}), ElementsAre(fresh));
  EXPECT_THAT(listed({.business_id = "42"}), ElementsAre(fresh));
  EXPECT_THAT(listed({.finished = true, .key = "k", .requeued = true}), ElementsAre(old.id));
  EXPECT_THAT(listed({.finished = true, .business_id = "42", .requeued = true}), ElementsAre(old.id));
  EXPECT_THAT(listed({.finished = true, .key = "k"}), IsEmpty());
  EXPECT_EQ(insert(a_task().key("k")).id, fresh);
  EXPECT_FALSE(must(store().requeue({&old.id, 1})).at(0)) << "its key is live";
}

TEST_F(SqliteLookup, ATaskWithoutHistoryLeavesNoEntry) {
  open_with(History::none);
  const NewTask task = a_task().business("order", "42");
  settle(claim(insert(task)), Settlement::Kind::finish);
  EXPECT_EQ(all_entries(), "");
  ASSERT_TRUE(cancel(insert(task).id));
  EXPECT_EQ(all_entries(), "");
}

TEST_F(SqliteLookup, OnlyFailuresLeaveEntriesWhereOnlyFailuresAreKept) {
  open_with(History::failures);
  settle(claim(insert(a_task().key("good"))), Settlement::Kind::finish);
  EXPECT_EQ(all_entries(), "");
  settle(claim(insert(a_task().key("bad"))), Settlement::Kind::finish, Outcome::exhausted);
  EXPECT_THAT(listed({.finished = true, .key = "bad"}), ::testing::SizeIs(1));
}

TEST_F(SqliteLookup, ALateFinisherTakesNoEntryWithIt) {
  open_with(History::none);
  const Inserted task = insert(a_task().key("k"));
  TaskRecord late = claim(task);
  --late.info.version;
  EXPECT_THAT(settle(late, Settlement::Kind::finish).applied, ElementsAre(false));
  EXPECT_EQ(insert(a_task().key("k")).id, task.id);
}

TEST_F(SqliteLookup, AKeyStoredThroughAnotherConnectionIsTaken) {
  open();
  Connection other{file(), Connection::Mode::write};
  GrowingIds ids{1, TaskId{}};
  Calls calls{other};
  Sums sums;
  Inserter inserter{other, calls, sums, ids, 64};
  const NewTask task = a_task().key("k");
  const auto insert_there = [&] {
    other.run("BEGIN IMMEDIATE");
    const Inserted there = inserter.insert({&task, 1}, kMarch).tasks.at(0);
    other.run("COMMIT");
    return there;
  };
  const Inserted there = insert_there();
  EXPECT_TRUE(there.created);
  EXPECT_EQ(insert(task).id, there.id);
  ASSERT_TRUE(cancel(there.id));
  const Inserted here = insert(task);
  EXPECT_TRUE(here.created);
  EXPECT_EQ(insert_there().id, here.id);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
