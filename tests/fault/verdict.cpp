#include "fault/verdict.h"

#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "fault/work.h"

namespace easyretry::fault {
namespace {

// Of its lease of a second, an execution has at least this much before it: with 0.6 s left it is renewed. A task that
// starts again sooner was given away while it was held.
constexpr std::int64_t kSurelyHeld = 250'000;

struct Execution {
  int life = 0;
  std::int64_t fence = 0;
  std::int64_t start = 0;
  std::int64_t due = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  // of it, or of its process
  bool returned = false;
};
using Executions = std::map<std::string, std::vector<Execution>>;  // by id, in the order of their starts

Executions executions_in(const std::vector<JournalEvent>& events, const Deaths& deaths) {
  Executions all;
  for (const JournalEvent& event : events) {
    if (event.what != "start" && event.what != "end") continue;
    auto& runs = all[event.subject];
    if (event.what == "start") {
      runs.push_back({event.life, event.fence, event.micros, event.due});
      if (const auto death = deaths.find(event.life); death != deaths.end()) runs.back().end = death->second;
      continue;
    }
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [&](const Execution& e) { return e.life == event.life && e.fence == event.fence; });
    if (run == runs.end()) continue;
    run->end = event.micros;
    run->returned = true;
  }
  for (auto& [id, runs] : all) {
    std::sort(runs.begin(), runs.end(), [](const Execution& a, const Execution& b) { return a.start < b.start; });
  }
  return all;
}

std::map<std::string, std::vector<TaskInfo>> history(storage::Store& store) {
  std::map<std::string, std::vector<TaskInfo>> by_key;
  storage::TaskQuery query;
  query.name_space = "default";
  query.finished = true;
  query.limit = 5000;
  while (true) {
    const auto page = store.list(query).value();
    for (const auto& record : page) by_key[record.info.key].push_back(record.info);
    if (page.size() < query.limit) return by_key;
    query.after = page.back().info.id;
  }
}

std::set<std::string> subjects(const std::vector<JournalEvent>& events, std::initializer_list<std::string_view> kinds) {
  std::set<std::string> found;
  for (const JournalEvent& event : events) {
    if (std::find(kinds.begin(), kinds.end(), event.what) != kinds.end()) found.insert(event.subject);
  }
  return found;
}

void judge_end(const TaskInfo& task) {
  EXPECT_EQ(task.outcome, always_fails(number_of(task.key)) ? Outcome::exhausted : Outcome::succeeded) << task.key;
  EXPECT_LE(task.attempts, 3) << task.key;
}

// In the order of their claims. A process that was stopped just after it checked its lease begins when it continues.
std::vector<Execution> without_late(const TaskInfo& task, const std::vector<Execution>& runs,
                                    const std::set<int>& stopped, Verdict& verdict) {
  std::vector<Execution> timely;
  for (const Execution& run : runs) {
    if (timely.empty() || run.fence > timely.back().fence) {
      timely.push_back(run);
      continue;
    }
    EXPECT_NE(run.fence, timely.back().fence) << task.key << " was run twice by one claim";
    EXPECT_TRUE(stopped.contains(run.life)) << task.key << " began after a later claim, in life " << run.life;
    ++verdict.late;
  }
  return timely;
}

void judge_executions(const TaskInfo& task, const std::vector<Execution>& all, const std::set<int>& stopped,
                      Verdict& verdict) {
  const auto runs = without_late(task, all, stopped, verdict);
  EXPECT_LE(all.size(), static_cast<std::size_t>(task.deliveries)) << task.key << " ran without being claimed";
  verdict.executions += all.size();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_GT(task.version, runs[i].fence) << task.key << " was ended by an earlier claim than its last";
    EXPECT_GE(runs[i].start, runs[i].due) << task.key << " ran before it was due";
    if (!runs[i].returned) ++verdict.cut_off;
    if (i == 0) continue;
    const Execution& before = runs[i - 1];
    if (runs[i].start >= before.end) continue;
    ++verdict.overtaken;
    EXPECT_GE(runs[i].start - before.start, kSurelyHeld)
        << task.key << " overlapped itself: life " << before.life << " and life " << runs[i].life;
  }
}

}  // namespace

Verdict judge(storage::Store& store, Crew& crew) {
  const auto events = crew.events();
  const auto ended = history(store);
  const auto acked = subjects(events, {"ack"});
  const auto told = subjects(events, {"success", "failure"});
  const Executions ran = executions_in(events, crew.deaths());

  Verdict verdict{.kills = crew.deaths().size(),
                  .acked = acked.size(),
                  .doubted = subjects(events, {"doubt"}).size(),
                  .ended = ended.size()};
  EXPECT_TRUE(all_done(store));
  for (const std::string& key : acked) EXPECT_TRUE(ended.contains(key)) << key << " was acknowledged and is gone";
  for (const auto& [key, tasks] : ended) {
    EXPECT_EQ(tasks.size(), 1U) << key << " ended more than once";
    EXPECT_TRUE(told.contains(key)) << key << " ended and nobody was told";
    judge_end(tasks.front());
    const auto runs = ran.find(to_string(tasks.front().id));
    EXPECT_NE(runs, ran.end()) << key << " ended without having run";
    if (runs != ran.end()) judge_executions(tasks.front(), runs->second, crew.stopped(), verdict);
  }
  return verdict;
}

bool all_done(storage::Store& store) {
  storage::TaskQuery live;
  live.name_space = "default";
  const auto count = store.count(live);
  return count && *count == 0;
}

std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
  return out << verdict.kills << " kills, " << verdict.acked << " tasks acknowledged, " << verdict.doubted
             << " in doubt, " << verdict.ended << " ended, " << verdict.executions << " executions, " << verdict.cut_off
             << " cut off, " << verdict.overtaken << " overtaken, " << verdict.late << " late";
}

}  // namespace easyretry::fault
