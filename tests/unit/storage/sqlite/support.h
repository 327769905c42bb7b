#pragma once
// A folder for each test, the store in it, and a second connection to the same file.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <easyretry/testing.h>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/sqlite_store.h"
#include "support/refusal.h"
#include "support/task_builder.h"

namespace easyretry::storage::sqlite {

using namespace std::chrono_literals;
using test::a_task;
using ::testing::HasSubstr;

inline constexpr TimePoint kMarch{std::chrono::sys_days{std::chrono::year{2026} / 3 / 10}};

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "easyretry-sqlite-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <class T, class E>
T must(tl::expected<T, E> result) {
  if (!result) throw StoreError{result.error()};
  return *std::move(result);
}

class SqliteTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "retry.db"; }
  SqliteOptions options() const { return {.path = file()}; }
  void open() { open(options()); }
  void open(const SqliteOptions& wanted) {
    store_.reset();
    store_ = open_sqlite(wanted, clock);
  }
  void close() { store_.reset(); }
  Store& store() { return *store_; }

  // The error message if the store cannot be opened; otherwise empty.
  std::string refusal(const SqliteOptions& wanted) {
    return test::refusal<StoreError>([&] { open_sqlite(wanted, clock); });
  }
  std::string refusal() { return refusal(options()); }

  // Another program's connection to the file: a shell, a script.
  void by_hand(const std::string& sql) { Connection{file(), Connection::Mode::create}.run(sql); }
  std::int64_t ask(const std::string& sql) { return Connection{file(), Connection::Mode::create}.integer(sql); }

  Inserted insert(const NewTask& task) { return must(store().insert({&task, 1})).tasks.at(0); }
  TaskRecord claim(const Inserted& task) {
    const Ticket ticket{task.id, task.version};
    return must(store().claim({.tickets = {&ticket, 1}, .owner = "worker", .lease = 30s})).won.at(0);
  }
  Applied settle(const TaskRecord& running, Settlement::Kind kind, Outcome outcome = Outcome::succeeded) {
    Settlement settlement;
    settlement.ticket = {running.info.id, running.info.version};
    settlement.kind = kind;
    settlement.outcome = outcome;
    return must(store().settle({&settlement, 1}));
  }
  void finish(const NewTask& task, Outcome outcome = Outcome::succeeded) {
    settle(claim(insert(task)), Settlement::Kind::finish, outcome);
  }
  std::int64_t count(bool finished = false) { return must(store().count({.finished = finished})); }

  testing::ManualClock clock{kMarch};

 private:
  Folder folder_;
  std::unique_ptr<Store> store_;
};

inline std::vector<std::string> dropped_months(const KeepReport& report) {
  std::vector<std::string> tables;
  for (const KeepStep& step : report.steps) {
    if (step.kind == KeepStep::Kind::history_dropped) tables.push_back(step.table);
  }
  return tables;
}

// Runs `body` in a child process and returns its result.
inline std::string in_child(const std::function<std::string()>& body) {
  int pipe[2];
  if (::pipe(pipe) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      said = body();
    } catch (const std::exception& error) {
      said = error.what();
    }
    _exit(::write(pipe[1], said.data(), said.size()) < 0 ? 1 : 0);
  }
  ::close(pipe[1]);
  std::string heard;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(pipe[0], buffer, sizeof buffer)) > 0;) {
    heard.append(buffer, static_cast<std::size_t>(size));
  }
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);
  return heard;
}

}  // namespace easyretry::storage::sqlite
