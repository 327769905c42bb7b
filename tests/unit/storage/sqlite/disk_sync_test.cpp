#include <latch>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "storage/sqlite/wal.h"

namespace easyretry::storage::sqlite {
namespace {

TEST(DiskSync, OneWaitServesEveryCommitBeforeIt) {
  DiskSync disk;
  int syncs = 0;
  const auto sync = [&] {
    ++syncs;
    return SQLITE_OK;
  };
  disk.committed();
  disk.committed();
  EXPECT_EQ(disk.wait_for(2, sync), SQLITE_OK);
  EXPECT_EQ(disk.wait_for(1, sync), SQLITE_OK);
  EXPECT_EQ(syncs, 1);
}

// A commit made during a sync may be too late for it.
TEST(DiskSync, ACommitMadeDuringAWaitIsNotServedByIt) {
  DiskSync disk;
  int syncs = 0;
  const auto sync = [&] {
    if (++syncs == 1) disk.committed();
    return SQLITE_OK;
  };
  disk.committed();
  disk.wait_for(1, sync);
  EXPECT_EQ(syncs, 1);
  disk.wait_for(2, sync);
  EXPECT_EQ(syncs, 2);
}

TEST(DiskSync, ACallerThatJoinsAWaitThatServesItDoesNotSyncAgain) {
  DiskSync disk;
  std::latch syncing{1};
  std::latch release{1};
  disk.committed();
  disk.committed();
  std::jthread first{[&] {
    disk.wait_for(1, [&] {
      syncing.count_down();
      release.wait();
      return SQLITE_OK;
    });
  }};
  syncing.wait();
  std::jthread second{[&] {
    disk.wait_for(2, [&] {
      ADD_FAILURE() << "the first wait began after this commit";
      return SQLITE_OK;
    });
  }};
  release.count_down();
}

TEST(DiskSync, AFailureIsReportedToAllItConcernsAndToNoOthers) {
  DiskSync disk;
  const auto works = [] { return SQLITE_OK; };
  const auto fails = [] { return SQLITE_IOERR_FSYNC; };
  disk.committed();
  EXPECT_EQ(disk.wait_for(1, works), SQLITE_OK);
  disk.committed();
  disk.committed();
  EXPECT_EQ(disk.wait_for(3, fails), SQLITE_IOERR_FSYNC);
  EXPECT_EQ(disk.wait_for(2, works), SQLITE_IOERR_FSYNC);
  EXPECT_EQ(disk.wait_for(1, works), SQLITE_OK);
  disk.committed();
  EXPECT_EQ(disk.wait_for(4, works), SQLITE_OK);
}

}  // namespace
}  // namespace easyretry::storage::sqlite
