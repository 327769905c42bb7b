// Tasks that are cancelled by a process which knows nothing of their handler, while other processes work on them.

#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <set>

#include <easyretry/easyretry.h>

#include "fault/each_server.h"
#include "fault/verdict.h"
#include "fault/work.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

constexpr int kTasks = 1500;
constexpr std::size_t kCancels = 1000;  // tried; most tasks have ended before
constexpr int kThreads = 10;            // a cancel that has to wait for other processes takes its time

struct Cancelled {
  std::string key;
  std::int64_t micros = 0;  // when cancel() had returned
};
using CancelledTasks = std::map<std::string, Cancelled>;  // by id

class CancelledByOthers : public OnEachServer {
 protected:
  CancelledTasks cancel_some() {
    Engine engine{database.url(), {.log = nullptr}};
    CancelledTasks cancelled;
    std::mutex mutex;
    std::atomic<std::size_t> tried = 0;
    const auto some = [&] {
      while (tried < kCancels) {
        // The oldest ones are those that workers hold.
        for (const TaskInfo& task : engine.list({.state = TaskState::running, .limit = 20})) {
          if (++tried > kCancels) return;
          if (!engine.cancel(task.id)) continue;
          const std::lock_guard lock{mutex};
          cancelled[to_string(task.id)] = {task.key, wall_micros()};
        }
      }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(some);
    threads.clear();
    return cancelled;
  }

  test::TestDatabase database{GetParam()};
};

TEST_P(CancelledByOthers, DoNotBeginAnyMoreAndTheirOwnersAreTold) {
  // Quick ones are claimed ahead, and then wait behind slow ones.
  Crew crew{database.url(), {{"SLOW_MILLIS", "300"}, {"EASYRETRY_LEASE", "5s"}}};
  crew.start_some(2, kTasks);
  ASSERT_TRUE(test::eventually([&] { return crew.events_written() > 100; }));
  const CancelledTasks cancelled = cancel_some();
  EXPECT_GT(cancelled.size(), 20U);
  ASSERT_TRUE(crew.finish());

  std::set<std::string> told;
  for (const JournalEvent& event : crew.events()) {
    if (event.what == "failure") told.insert(event.subject);
    if (event.what != "start") continue;
    const auto task = cancelled.find(event.subject);
    if (task == cancelled.end()) continue;
    EXPECT_LE(event.micros, task->second.micros) << task->second.key << " was begun after it had been cancelled";
  }
  for (const auto& [id, task] : cancelled) EXPECT_TRUE(told.contains(task.key)) << task.key;
  std::cout << cancelled.size() << " cancelled\n";
}

ON_EACH_SERVER(CancelledByOthers);
ON_REDIS(CancelledByOthers);

}  // namespace
}  // namespace easyretry::fault
