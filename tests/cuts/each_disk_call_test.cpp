// Every call that SQLite makes to the disk for a verb fails once: each read, write, sync and truncation. What the verb
// answers is true, also after a crash at that moment, and it may be called again.
//
// The verbs are called twice: on a store that has worked for a while, whose pages are in memory and whose log has
// frames, and on one that was opened just before.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>

#include <gmock/gmock.h>

#include <easyretry/testing.h>

#include "cuts/each_fault.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/sqlite_store.h"
#include "storage/sqlite/store_file.h"
#include "support/tasks_by_key.h"
#include "support/temp_folder.h"
#include "unit/storage/sqlite/faulty_disk.h"

namespace easyretry::cuts {
namespace {

namespace fs = std::filesystem;
namespace sqlite = storage::sqlite;
using sqlite::Connection;
using sqlite::FaultyDisk;
using storage::Store;
using Kind = Verb::Kind;

constexpr Millis kBetweenTries{100};  // a store that does not trust its file tries to mend it this often

// In memory if possible: nothing here cuts the power, so no byte has to reach a disk.
fs::path folder_for_files() {
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory) ? memory : fs::temp_directory_path();
}

// What a crash leaves. Copied with other descriptors: to close one of an open database would release SQLite's locks.
void copy_files(const fs::path& from, const fs::path& to) {
  const auto copy = [&] {
    for (const char* part : {"", "-journal", "-wal"}) {
      if (fs::exists(from.string() + part)) fs::copy_file(from.string() + part, to.string() + part);
    }
  };
  if (!sqlite::with_own_descriptors(copy)) copy();
}

// Live ones, and ended ones.
using Tasks = std::pair<std::int64_t, std::int64_t>;
Tasks tasks_in(Store& store) {
  TaskQuery query{.name_space = test::kNamespace};
  const std::int64_t live = test::must(store.count(query));
  query.finished = query.requeued = true;
  return {live, test::must(store.count(query))};
}

class EachDiskCall : public ::testing::Test, public FaultyPlace {
 protected:
  EachDiskCall() { open(); }

  void fail_each(FaultyDisk::Fails how);

 private:
  Store& store() override { return *store_; }
  Store& plain() override {
    if (!store_) open();
    return *store_;
  }
  void prepared() override {
    if (!just_opened_) return;
    store_.reset();
    open();
  }
  void fail_after(std::size_t calls) override { disk_.fail_after(calls, how_); }
  bool take_back() override {
    disk_.free();
    clock_.advance(kBetweenTries);
    return disk_.take_back_failure();
  }
  void at_the_answer(const Verb& verb, const Answer& answer) override;

  std::vector<Verb> of_the_file();
  std::vector<Verb> in_trouble();

  fs::path file() const { return folder_.path() / (std::to_string(files_) + ".db"); }
  void open() { store_ = storage::open_sqlite({.path = file()}, clock_); }
  Answer try_to_open();
  void crash();
  Answer insert_within(Store& store);
  void fill_the_disk();
  void fail_a_sync();

  const test::TempFolder folder_{folder_for_files()};
  FaultyDisk disk_;
  testing::ManualClock clock_;
  int files_ = 0;
  FaultyDisk::Fails how_{};
  bool just_opened_ = false;
  std::unique_ptr<Store> store_;  // null: closed
  std::optional<Tasks> left_by_the_crash_;
  Verbs verbs_{[this]() -> Store& { return plain(); }};
};

void EachDiskCall::fail_each(FaultyDisk::Fails how) {
  how_ = how;
  std::vector<Verb> all = of_the_file();
  std::ranges::copy(in_trouble(), std::back_inserter(all));
  std::ranges::copy(verbs_.all(), std::back_inserter(all));
  int failed = 0;
  for (const bool just_opened : {false, true}) {
    just_opened_ = just_opened;
    failed += meet_each_fault(*this, verbs_, all, just_opened ? "just opened" : "opened long ago");
  }
  std::cout << failed << " calls failed\n";
  EXPECT_GT(failed, 500);
}

// A store that was opened from a copy of the file knows everything that was acknowledged, and nothing that was refused.
void EachDiskCall::at_the_answer(const Verb& verb, const Answer& answer) {
  const test::TempFolder folder{folder_for_files()};
  const fs::path copy = folder.path() / "copy.db";
  copy_files(file(), copy);
  auto after_a_crash = storage::open_sqlite({.path = copy}, clock_);
  SCOPED_TRACE("after a crash");
  if (verb.made) expect_true(verb, answer, verb.made(*after_a_crash));
  const bool in_doubt = answer.error && answer.error->code == Errc::in_doubt;
  const Tasks there = tasks_in(*after_a_crash);
  EXPECT_EQ(std::exchange(left_by_the_crash_, std::nullopt).value_or(there), there);
  if (!in_doubt) {
    EXPECT_EQ(tasks_in(plain()), there);
  }
  after_a_crash.reset();
  EXPECT_EQ((Connection{copy, Connection::Mode::write}.text("PRAGMA integrity_check")), "ok");
}

std::vector<Verb> EachDiskCall::of_the_file() {
  const auto live_now = [this](Store& in) { return verbs_.live(in); };
  return {
      {"open a new file",
       Kind::reads,
       [this](Store&) { return try_to_open(); },
       {},
       {},
       [this] {
         store_.reset();
         ++files_;
       }},
      {"open after a crash",
       Kind::reads,
       [this](Store&) { return try_to_open(); },
       {},
       {},
       [this] {
         verbs_.store_it();
         crash();
       }},
      // Copies the log into the database.
      {"close",
       Kind::changes,
       [this](Store&) {
         store_.reset();
         return Answer{std::nullopt, true};
       },
       {},
       live_now,
       [this] { verbs_.store_it(); }},
      {"insert_within its file", Kind::compares, [this](Store& store) { return insert_within(store); }, {}, live_now},
  };
}

std::vector<Verb> EachDiskCall::in_trouble() {
  const auto insert = [this](Store& store) { return verbs_.insert(store); };
  const auto live_now = [this](Store& in) { return verbs_.live(in); };
  return {
      {"insert on a full disk", Kind::compares, insert, {}, live_now, [this] { fill_the_disk(); }},
      {"insert after a failed sync", Kind::compares, insert, {}, live_now, [this] { fail_a_sync(); }},
      {"list after a failed sync",
       Kind::reads,
       [this](Store& store) { return answer_of(store.list({.name_space = test::kNamespace, .key = verbs_.key()})); },
       {},
       {},
       [this] { fail_a_sync(); }},
  };
}

Answer EachDiskCall::try_to_open() {
  try {
    store_.reset();
    open();
    return {std::nullopt, true};
  } catch (const StoreError& refusal) {
    return {refusal.error()};
  }
}

void EachDiskCall::crash() {
  left_by_the_crash_ = tasks_in(plain());
  const fs::path left = file();
  ++files_;
  copy_files(left, file());
  store_.reset();
}

// The application commits.
Answer EachDiskCall::insert_within(Store& store) {
  auto phase = sqlite::Phase::work;
  try {
    Connection application{file(), Connection::Mode::write};
    application.run("BEGIN IMMEDIATE");
    const task::NewTask task = test::a_task().key(verbs_.key());
    Answer answer = answer_of(store.insert_within(sqlite_tx(application.get()), {&task, 1}),
                              [](const auto& reply) { return reply.tasks[0].created; });
    phase = sqlite::Phase::commit;
    if (!answer.error) application.run("COMMIT");
    return answer;
  } catch (const sqlite::SqliteError& error) {
    return {to_error(error, "the application", phase)};
  }
}

// The log has something to give back.
void EachDiskCall::fill_the_disk() {
  test::stored(plain(), verbs_.key() + ": before");
  disk_.fill();
}

void EachDiskCall::fail_a_sync() {
  const task::NewTask task = test::a_task();
  disk_.fail_syncs(1);
  EXPECT_EQ(plain().insert({&task, 1}).error().code, Errc::in_doubt);
}

TEST_F(EachDiskCall, MayFailBeforeItIsMade) {
  fail_each(FaultyDisk::Fails::before_it_is_made);
}

TEST_F(EachDiskCall, MayFailAfterItIsMade) {
  fail_each(FaultyDisk::Fails::after_it_is_made);
}

}  // namespace
}  // namespace easyretry::cuts
