// Files that open_sqlite refuses: the messages, and that the file stays as it is.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

#include "storage/sqlite/store_file.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage::sqlite {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;

std::string bytes_of(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream{path, std::ios::binary} << bytes;
}

constexpr std::size_t kPage = 4096;

class SqliteOpen : public SqliteTest {
 protected:
  // Opening fails with this message, and not a byte of the file has changed.
  void expect_refused_untouched(const std::string& because) {
    const std::string before = bytes_of(file());
    EXPECT_THAT(refusal(), AllOf(HasSubstr(because), HasSubstr(file().string())));
    EXPECT_TRUE(bytes_of(file()) == before) << "the file was changed";
  }
  void damage_page(std::size_t page) {
    std::string bytes = bytes_of(file());
    bytes.replace(page * kPage, kPage, std::string(kPage, '\xAA'));
    write_bytes(file(), bytes);
  }
  // A database of ours with some pages to damage.
  void make_database(int tasks = 200) {
    open();
    for (int i = 0; i < tasks; ++i) insert(a_task().payload(std::string(500, 'x')));
    close();
  }
};

TEST_F(SqliteOpen, MakesTheFileAndItsSchema) {
  open();
  EXPECT_TRUE(fs::exists(file()));
  EXPECT_EQ(store().info().url, "sqlite:" + file().string());
  EXPECT_EQ(count(), 0);
}

TEST_F(SqliteOpen, ASecondStoreInThisProcessIsRefused) {
  open();
  EXPECT_THAT(refusal(), AllOf(HasSubstr("this process (pid " + std::to_string(::getpid())),
                               HasSubstr("share that engine"), HasSubstr(file().string())));
  close();
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(SqliteOpen, ASecondProcessIsRefusedWithThePidOfTheFirst) {
  open();
  const std::string us = std::to_string(::getpid());
  EXPECT_THAT(in_child([&] { return refusal(); }), HasSubstr("in use by process " + us));
}

TEST_F(SqliteOpen, ASecondNameOfTheFileIsTheSameFile) {
  open();
  const fs::path link = file().parent_path() / "link.db";
  fs::create_symlink(file(), link);
  EXPECT_THAT(refusal({.path = link}), HasSubstr("in use by"));
}

TEST_F(SqliteOpen, AHardLinkIsTheSameFile) {
  open();
  const fs::path link = file().parent_path() / "link.db";
  fs::create_hard_link(file(), link);
  EXPECT_THAT(refusal({.path = link}), AllOf(HasSubstr("in use by"), HasSubstr("another name")));
  EXPECT_THAT(in_child([&] { return refusal({.path = link}); }), HasSubstr("another name"));
  close();
  EXPECT_EQ(refusal({.path = link}), "accepted");
}

TEST_F(SqliteOpen, TheLockHoldsWithoutItsFile) {
  open();
  fs::remove(file().string() + ".lock");
  EXPECT_THAT(refusal(), HasSubstr("whose lock file was deleted"));
  EXPECT_THAT(in_child([&] { return refusal(); }), HasSubstr("whose lock file was deleted"));
  close();
  EXPECT_EQ(refusal(), "accepted");
}

// By another process, as the kernel tells it: the lock that every connection to a database with a log holds.
bool is_locked_by_sqlite(const fs::path& database) {
  return in_child([&] {
           const int opened = ::open(database.c_str(), O_RDWR);
           struct flock shared {};
           shared.l_type = F_WRLCK;
           shared.l_start = 0x40000002;
           shared.l_len = 510;
           const bool asked = ::fcntl(opened, F_GETLK, &shared) == 0;
           return std::string{asked && shared.l_type != F_UNLCK ? "locked" : "free"};
         }) == "locked";
}

TEST_F(SqliteOpen, TakingAndReleasingTheLockLeavesTheLocksOfTheApplicationsConnectionAlone) {
  make_database(1);
  const Connection application{file(), Connection::Mode::write};
  EXPECT_EQ(sqlite3_exec(application.get(), "SELECT * FROM retry_meta", nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_TRUE(is_locked_by_sqlite(file()));
  open();
  EXPECT_TRUE(is_locked_by_sqlite(file()));
  fs::remove(file().string() + ".lock");
  EXPECT_NE(refusal(), "accepted");
  EXPECT_TRUE(is_locked_by_sqlite(file())) << "the store that was refused has taken the locks with it";
  close();
  EXPECT_TRUE(is_locked_by_sqlite(file()));
}

TEST_F(SqliteOpen, AProcessThatDiedHoldsNoLock) {
  in_child([&] {
    open();
    return std::string{};
  });
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(SqliteOpen, ANewerSchemaIsRefused) {
  make_database(0);
  by_hand("UPDATE retry_meta SET value = '99' WHERE name = 'schema_version'");
  expect_refused_untouched("schema version 99, made by a newer release");
}

TEST_F(SqliteOpen, AnotherNumberOfShardsIsRefusedWithTheRemedy) {
  make_database(0);
  SqliteOptions other = options();
  other.total_shards = 16;
  EXPECT_THAT(refusal(other), AllOf(HasSubstr("set shards=64"), HasSubstr("easyretry reshard --store … --shards 16")));
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(SqliteOpen, AnotherApplicationsDatabaseIsRefusedAndNothingIsPutBesideIt) {
  by_hand("CREATE TABLE invoices (id INTEGER)");
  expect_refused_untouched("another application");
  EXPECT_EQ(std::distance(fs::directory_iterator{file().parent_path()}, {}), 1);
}

TEST_F(SqliteOpen, AnotherApplicationsEmptyDatabaseIsRefusedIfItSaysWhoseItIs) {
  by_hand("PRAGMA application_id = 42; VACUUM");
  expect_refused_untouched("another application");
}

TEST_F(SqliteOpen, ATextFileIsRefused) {
  write_bytes(file(), "to be bought: milk, bread\n");
  expect_refused_untouched("not a SQLite database");
}

TEST_F(SqliteOpen, ADamagedFirstPageIsRefused) {
  make_database();
  std::string bytes = bytes_of(file());
  bytes.replace(0, 16, "garbage-garbage!");
  write_bytes(file(), bytes);
  expect_refused_untouched("not a SQLite database, or its first page is damaged");
}

TEST_F(SqliteOpen, ATruncatedDatabaseIsRefused) {
  make_database();
  fs::resize_file(file(), fs::file_size(file()) / 2);
  expect_refused_untouched("damaged");
}

TEST_F(SqliteOpen, ADamagedRootPageIsRefused) {
  make_database();
  damage_page(static_cast<std::size_t>(ask("SELECT rootpage FROM sqlite_schema WHERE name = 'retry_state'")) - 1);
  expect_refused_untouched("damaged: stop, keep a copy, and restore a backup");
}

// Only verbs that need a damaged page in the middle report it; the others go on.
TEST_F(SqliteOpen, ADamagedPageIsReportedByTheVerbsThatMeetIt) {
  open();
  std::vector<TaskId> ids;
  for (int i = 0; i < 200; ++i)
    ids.push_back(insert(a_task().payload("task " + std::string(500, 'x') + std::to_string(i) + ".")).id);
  close();
  damage_page(bytes_of(file()).find("x100.") / kPage);

  open();
  const auto met = store().find({&ids[100], 1});
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, Errc::unavailable);
  EXPECT_THAT(met.error().detail, HasSubstr("damaged: stop, keep a copy"));
  EXPECT_FALSE(store().list({.limit = 1000}));
  const Ticket ticket{ids[100], 1};
  EXPECT_FALSE(store().claim({.tickets = {&ticket, 1}, .owner = "worker", .lease = 30s}));

  // Which tasks share the page with it depends on their ids: a handful of 200, and as many of the new ones.
  const auto can_be_found = [&](TaskId id) { return store().find({&id, 1}).has_value(); };
  EXPECT_GT(std::ranges::count_if(ids, can_be_found), 150);
  int inserted = 0;
  for (int i = 0; i < 20; ++i) {
    const NewTask task = a_task();
    inserted += store().insert({&task, 1}).has_value() ? 1 : 0;
  }
  EXPECT_GT(inserted, 10);
}

TEST_F(SqliteOpen, AnEmptyFileIsOursToFill) {
  write_bytes(file(), "");
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(SqliteOpen, AFolderIsNoFile) {
  EXPECT_THAT(refusal({.path = file().parent_path()}), AllOf(HasSubstr("is a folder"), HasSubstr("retry.db")));
}

// The README starts like this: sqlite:retry.db, in a folder that has no such file yet.
TEST_F(SqliteOpen, ANameAloneIsAFileInTheFolderWhereTheProcessRuns) {
  const std::string refused = in_child([&] {
    fs::current_path(file().parent_path());
    return refusal({.path = "named.db"});
  });
  EXPECT_EQ(refused, "accepted");
  EXPECT_TRUE(fs::exists(file().parent_path() / "named.db"));
}

TEST_F(SqliteOpen, APipeIsNoFileAndIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is a device, a pipe or a socket"), HasSubstr(file().string())));
  EXPECT_THAT(refusal({.path = "/dev/null"}), HasSubstr("/dev/null is a device"));
}

TEST_F(SqliteOpen, AMissingFolderIsNamed) {
  EXPECT_THAT(refusal({.path = file().parent_path() / "missing" / "retry.db"}),
              AllOf(HasSubstr("missing does not exist"), HasSubstr("Create it")));
}

// Permissions do not stop root, so the child becomes the user nobody first.
TEST_F(SqliteOpen, AnUnwritableFolderIsNamed) {
  fs::permissions(file().parent_path(), fs::perms{0555});
  const std::string refused = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return std::string{"cannot become nobody"};
    return refusal();
  });
  EXPECT_THAT(refused, AllOf(HasSubstr("cannot write to the folder of " + file().string()), HasSubstr("write access")));
}

TEST_F(SqliteOpen, OptionsOutOfRangeAreRefused) {
  for (const int shards : {-1, 0, 4097}) {
    EXPECT_THROW(open_sqlite({.path = file(), .total_shards = shards}, clock), std::invalid_argument);
  }
  EXPECT_THROW(open_sqlite({.path = file(), .keep_months = 0}, clock), std::invalid_argument);
  EXPECT_THROW(open_sqlite({.path = ""}, clock), std::invalid_argument);
}

TEST(NetworkFilesystems, AreKnownByTheirMagic) {
  EXPECT_EQ(network_filesystem(0x6969), "NFS");
  EXPECT_EQ(network_filesystem(0xFF534D42), "CIFS");
  EXPECT_EQ(network_filesystem(0x01021997), "9P");
  EXPECT_EQ(network_filesystem(0x65735546), "FUSE");
  EXPECT_EQ(network_filesystem(0x00C36400), "Ceph");
}

TEST(NetworkFilesystems, LocalOnesAreNot) {
  constexpr std::uint32_t kExt4 = 0xEF53, kXfs = 0x58465342, kBtrfs = 0x9123683E, kTmpfs = 0x01021994,
                          kOverlay = 0x794C7630, kZfs = 0x2FC12FC1;
  for (const std::uint32_t magic : {kExt4, kXfs, kBtrfs, kTmpfs, kOverlay, kZfs})
    EXPECT_EQ(network_filesystem(magic), "");
}

}  // namespace
}  // namespace easyretry::storage::sqlite
