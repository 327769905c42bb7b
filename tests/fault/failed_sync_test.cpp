// Syncs that fail for a while, and take what was written with them: nothing that was acknowledged is missing on the
// disk, and the same process goes on when the disk works again.

#include <iostream>
#include <set>

#include <gtest/gtest.h>

#include "fault/lossy_disk.h"
#include "storage/open.h"
#include "storage/sqlite/connection.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

constexpr int kTasks = 6000;
constexpr std::chrono::seconds kPatience{60};

std::set<std::string> keys_in(storage::Store& store, bool finished) {
  std::set<std::string> keys;
  storage::TaskQuery query;
  query.space = "default";
  query.finished = finished;
  query.limit = 5000;
  while (true) {
    const auto page = store.list(query).value();
    for (const auto& record : page) keys.insert(record.info.key);
    if (page.size() < query.limit) return keys;
    query.after = page.back().info.id;
  }
}

class FailedSync : public ::testing::TestWithParam<const char*> {
 protected:
  std::size_t acknowledged() {
    std::size_t count = 0;
    for (const JournalEvent& event : crew_.events()) count += event.what == "ack" ? 1 : 0;
    return count;
  }
  bool grows(std::size_t by) {
    const std::size_t before = acknowledged();
    return test::eventually([&] { return acknowledged() >= before + by; }, kPatience);
  }
  bool fails(std::size_t times) {
    const std::size_t before = disk_.failures();
    disk_.fail(GetParam());
    return test::eventually([&] { return disk_.failures() >= before + times; }, kPatience);
  }

  void expect_all_acknowledged_on_the_disk() {
    const std::string url = disk_.remount();
    const auto store = storage::open_store(url, system_clock());
    std::set<std::string> there = keys_in(*store, false);
    there.merge(keys_in(*store, true));
    std::size_t gone = 0;
    std::size_t acks = 0;
    for (const JournalEvent& event : crew_.events()) {
      if (event.what != "ack") continue;
      ++acks;
      gone += there.contains(event.subject) ? 0 : 1;
    }
    EXPECT_EQ(gone, 0U) << "acknowledged and not on the disk, of " << acks;
    std::cout << disk_.failures() << " failed syncs, " << acks << " acknowledged, " << gone << " gone\n";
    storage::sqlite::Connection db{url.substr(7), storage::sqlite::Connection::Mode::read};
    EXPECT_EQ(db.text("PRAGMA integrity_check"), "ok");
  }

  LossyDisk disk_;
  Crew crew_{disk_.url(), disk_.variables()};
};

TEST_P(FailedSync, LosesNothingAcknowledgedAndTheProcessGoesOn) {
  const int life = crew_.start(kTasks);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(grows(100)) << "round " << round;
    ASSERT_TRUE(fails(4)) << "round " << round;
    disk_.work();
  }
  ASSERT_TRUE(grows(100));
  crew_.kill(life);
  expect_all_acknowledged_on_the_disk();
}

// The next process finds in the page cache what never reached the disk.
TEST_P(FailedSync, LosesNothingThatTheNextProcessAcknowledges) {
  const int first = crew_.start(kTasks);
  ASSERT_TRUE(grows(100));
  ASSERT_TRUE(fails(1));
  crew_.kill(first);
  disk_.work();
  const int second = crew_.start(kTasks);
  ASSERT_TRUE(grows(100));
  crew_.kill(second);
  expect_all_acknowledged_on_the_disk();
}

std::string words_of(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sqlite, FailedSync, ::testing::Values("wal", "wal evict", "wal db folder"), words_of);

}  // namespace
}  // namespace easyretry::fault
