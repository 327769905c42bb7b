// docs/state-machine.md against the table: its picture has exactly the table's edges, its list exactly the table's
// rows.

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "task/transitions.h"

namespace easyretry::task {
namespace {

// The lines of the page that begin so, without what indents them.
std::set<std::string> lines(const std::set<std::string>& beginnings, std::string_view holding) {
  std::ifstream page{EASYRETRY_ROOT "/docs/state-machine.md"};
  std::set<std::string> found;
  for (std::string line; std::getline(page, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const bool begins = std::any_of(beginnings.begin(), beginnings.end(),
                                    [&](const std::string& beginning) { return line.starts_with(beginning); });
    if (!begins || line.find(holding) == std::string::npos) continue;
    EXPECT_TRUE(found.insert(line).second) << "twice on the page: " << line;
  }
  return found;
}

// The names of the page are those of the code; to_string(TaskState) is in capitals, for people.
std::string name(TaskState state) {
  switch (state) {
    case TaskState::pending: return "pending";
    case TaskState::running: return "running";
    case TaskState::finished: return "finished";
  }
  return "unknown";
}

std::string added(int count) {
  return count > 0 ? "+" + std::to_string(count) : std::to_string(count);
}

TEST(StateMachinePage, ThePictureShowsEveryTransitionAndNoOther) {
  const auto drawn = lines({"pending", "running", "finished"}, ": ");
  std::set<std::string> table;
  for (const Transition& row : transitions()) {
    table.insert(name(row.from) + " --> " + name(row.to) + ": " + std::string{to_string(row.event)});
  }
  EXPECT_EQ(drawn, table);
}

TEST(StateMachinePage, TheListCountsAsTheTableDoes) {
  const auto listed = lines({"| pending", "| running", "| finished"}, "|");
  std::set<std::string> table;
  for (const Transition& row : transitions()) {
    table.insert("| " + name(row.from) + " | " + std::string{to_string(row.event)} + " | " + name(row.to) + " | " +
                 added(row.attempts) + " | " + added(row.crashes) + " | " + (row.new_version ? "yes" : "no") + " |");
  }
  EXPECT_EQ(listed, table);
}

TEST(StateMachinePage, TasksBeginPendingAndEndFinished) {
  EXPECT_EQ(lines({"[*] -->"}, ""), std::set<std::string>{"[*] --> pending: insert"});
  EXPECT_EQ(lines({"finished --> [*]"}, "").size(), 1U);
}

}  // namespace
}  // namespace easyretry::task
