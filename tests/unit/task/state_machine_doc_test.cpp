// docs/state-machine.md against the table: its picture has exactly the table's edges, its list exactly the table's
// rows.

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "task/transitions.h"

namespace easyretry::task {
namespace {

std::string page() {
  std::ifstream file{EASYRETRY_ROOT "/docs/state-machine.md"};
  return {std::istreambuf_iterator<char>{file}, {}};
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

std::set<std::string> matches(const std::string& text, const std::regex& line, const std::string& format) {
  std::set<std::string> found;
  for (std::sregex_iterator it{text.begin(), text.end(), line}; it != std::sregex_iterator{}; ++it) {
    EXPECT_TRUE(found.insert(it->format(format)).second) << "twice on the page: " << it->str();
  }
  return found;
}

TEST(StateMachinePage, ThePictureShowsEveryTransitionAndNoOther) {
  const auto drawn = matches(page(), std::regex{R"(\n +(\w+) --> (\w+): (\w+))"}, "$1 --> $2: $3");
  std::set<std::string> table;
  for (const Transition& row : transitions()) {
    table.insert(name(row.from) + " --> " + name(row.to) + ": " + std::string{to_string(row.event)});
  }
  EXPECT_EQ(drawn, table);
}

TEST(StateMachinePage, TheListCountsAsTheTableDoes) {
  const auto listed = matches(page(), std::regex{R"(\n\| (pending|running|finished) (\|[^\n]*\|))"}, "| $1 $2");
  std::set<std::string> table;
  for (const Transition& row : transitions()) {
    table.insert("| " + name(row.from) + " | " + std::string{to_string(row.event)} + " | " + name(row.to) + " | " +
                 added(row.attempts) + " | " + added(row.crashes) + " | " + (row.new_version ? "yes" : "no") + " |");
  }
  EXPECT_EQ(listed, table);
}

TEST(StateMachinePage, TasksBeginPendingAndEndFinished) {
  EXPECT_NE(page().find("[*] --> pending: insert"), std::string::npos);
  EXPECT_NE(page().find("finished --> [*]"), std::string::npos);
}

}  // namespace
}  // namespace easyretry::task
