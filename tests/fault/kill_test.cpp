// Crash for real: a process working on SQLite is killed again and again, and nothing acknowledged is lost, nothing runs
// twice at a time, and each task ends once.

#include <fstream>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "fault/child.h"
#include "fault/journal.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/temp_folder.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;

constexpr int kKills = 50;
constexpr std::size_t kTasks = 20'000;
constexpr int kMostLives = 500;
constexpr int kTasksPerLife = 800;

struct Worker : Child {
  Worker(const std::string& url, const std::filesystem::path& folder, int life, int tasks)
      : Child(KILL_WORKER, {url, folder.string(), std::to_string(life), std::to_string(tasks)}) {}
};

std::size_t count_events(const std::filesystem::path& journal, const std::string& what) {
  std::ifstream file{journal};
  std::size_t n = 0;
  for (std::string line; std::getline(file, line);) n += line.starts_with(what) ? 1 : 0;
  return n;
}

// Killed at a random moment of its work, told by how much it has done: a slow machine tests as much as a fast one.
void live_and_die(const std::string& url, const std::filesystem::path& folder, int life, std::mt19937& random) {
  const auto journal = journal_path(folder, life);
  const std::size_t enough = std::uniform_int_distribution<std::size_t>{0, 4 * kTasksPerLife}(random);
  Worker worker{url, folder, life, kTasksPerLife};
  ASSERT_TRUE(test::eventually([&] { return count_events(journal, "") >= enough; }))
      << "life " << life << " stands still";
  const int status = worker.kill();
  ASSERT_TRUE(WIFSIGNALED(status)) << "life " << life << " ended by itself with " << status;
}

struct Execution {
  std::int64_t fence = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;  // 0: the process was killed in it
  int life = 0;
};

std::map<std::string, std::vector<Execution>> executions(const std::vector<JournalEvent>& events) {
  std::map<std::string, std::vector<Execution>> all;
  for (const JournalEvent& event : events) {
    if (event.what == "start") all[event.subject].push_back({event.fence, event.micros, 0, event.life});
    if (event.what == "end") {
      for (Execution& e : all[event.subject]) {
        if (e.fence == event.fence && e.life == event.life) e.end = event.micros;
      }
    }
  }
  return all;
}

std::map<std::string, std::vector<storage::TaskRecord>> history(storage::Store& store) {
  std::map<std::string, std::vector<storage::TaskRecord>> by_key;
  storage::TaskQuery query;
  query.space = "default";
  query.finished = true;
  query.limit = 5000;
  while (true) {
    const auto page = store.list(query).value();
    for (const auto& record : page) by_key[record.info.key].push_back(record);
    if (page.size() < query.limit) return by_key;
    query.after = page.back().info.id;
  }
}

TEST(KilledForReal, LosesNothingOverlapsNothingAndEndsEachTaskOnce) {
  const test::TempFolder folder;
  const std::string url = folder.sqlite_url();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random{seed};
  int kills = 0;
  for (std::size_t acked_so_far = 0; kills < kKills || acked_so_far < kTasks; ++kills) {
    ASSERT_LT(kills, kMostLives);
    ASSERT_NO_FATAL_FAILURE(live_and_die(url, folder.path(), kills, random));
    acked_so_far += count_events(journal_path(folder.path(), kills), "ack");
  }
  const int status = Worker{url, folder.path(), kills, 0}.wait();
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the last life could not finish: " << status;

  const auto events = read_journals(folder.path());
  const auto store = storage::open_store(url, system_clock());
  const auto ended = history(*store);
  storage::TaskQuery live;
  live.space = "default";
  EXPECT_EQ(store->count(live).value(), 0) << "the last life left work undone";

  std::set<std::string> acked, told;
  for (const JournalEvent& event : events) {
    if (event.what == "ack") acked.insert(event.subject);
    if (event.what == "success" || event.what == "failure") told.insert(event.subject);
  }
  for (const std::string& key : acked) EXPECT_TRUE(ended.contains(key)) << key << " was acknowledged and is gone";

  const auto ran = executions(events);
  std::size_t killed_in_a_handler = 0;
  for (const auto& [key, records] : ended) {
    ASSERT_EQ(records.size(), 1U) << key << " ended more than once";
    const TaskInfo& info = records.front().info;
    EXPECT_TRUE(told.contains(key)) << key << " ended and nobody was told";
    EXPECT_EQ(info.outcome, std::stoi(key.substr(5)) % 10 == 0 ? Outcome::exhausted : Outcome::succeeded) << key;
    EXPECT_LE(info.attempts, 3) << key;

    const auto& runs = ran.at(to_string(info.id));
    EXPECT_LE(runs.size(), static_cast<std::size_t>(info.deliveries)) << key << " ran without being claimed";
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].end == 0) ++killed_in_a_handler;
      if (i == 0) continue;
      EXPECT_GT(runs[i].fence, runs[i - 1].fence) << key;
      EXPECT_TRUE(runs[i].life > runs[i - 1].life || (runs[i - 1].end != 0 && runs[i].start >= runs[i - 1].end))
          << key << " overlapped itself";
    }
  }
  std::cout << kills << " kills, " << acked.size() << " tasks acknowledged, " << ended.size() << " ended, "
            << killed_in_a_handler << " executions cut off\n";
}

}  // namespace
}  // namespace easyretry::fault
