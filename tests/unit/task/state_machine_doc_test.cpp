// docs/state-machine.md matches the table: its diagram has exactly the edges of the table, and its list exactly the
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

// The lines of the page with this prefix, without their indentation.
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

std::string added(int count) {
  return count > 0 ? "+" + std::to_string(count) : std::to_string(count);
}

TEST(StateMachinePage, ThePictureShowsEveryTransitionAndNoOther) {
  const auto drawn = lines({"pending", "running", "finished"}, ": ");
  std::set<std::string> table;
  for (const Transition& row : transitions()) {
    table.insert(std::string{to_string(row.from)} + " --> " + std::string{to_string(row.to)} + ": " +
                 std::string{to_string(row.event)});
  }
  EXPECT_EQ(drawn, table);
}

TEST(StateMachinePage, TheListCountsAsTheTableDoes) {
  const auto listed = lines({"| pending", "| running", "| finished"}, "|");
  std::set<std::string> table;
  for (const Transition& row : transitions()) {
    table.insert("| " + std::string{to_string(row.from)} + " | " + std::string{to_string(row.event)} + " | " +
                 std::string{to_string(row.to)} + " | " + added(row.attempts) + " | " + added(row.crashes) + " | " +
                 (row.new_version ? "yes" : "no") + " |");
  }
  EXPECT_EQ(listed, table);
}

TEST(StateMachinePage, TasksBeginPendingAndEndFinished) {
  EXPECT_EQ(lines({"[*] -->"}, ""), std::set<std::string>{"[*] --> pending: insert"});
  EXPECT_EQ(lines({"finished --> [*]"}, "").size(), 1U);
}

}  // namespace
}  // namespace easyretry::task
