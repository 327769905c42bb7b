#include "tasks/task_table.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "printing/text.h"

namespace easyretry::app {
namespace {

struct TaskColumn {
  std::string name;  // as in --columns
  Column column;
  std::function<Cell(const nlohmann::json& task, TimePoint now)> cell;
  bool usual = true;
};

auto text_of(const char* field) {
  return [field](const nlohmann::json& task, TimePoint) { return Cell{task.value(field, "")}; };
}

auto time_of(const char* field) {
  return [field](const nlohmann::json& task, TimePoint now) { return Cell{when(task, field, now)}; };
}

// A running task also has a due time, but it has passed.
Cell next_cell(const nlohmann::json& task, TimePoint now) {
  return {task.value("state", "") == "pending" ? when(task, "next_at", now) : ""};
}

// Users look for the reason of a failure first, so other columns make room for it.
std::vector<TaskColumn> columns_of(TaskSet set) {
  constexpr std::size_t kReadableError = 24;
  const bool live = set == TaskSet::live;
  const std::string state = live ? "state" : "outcome";
  return {
      {"id", {"id"}, text_of("id")},
      {"handler", {"handler", true}, text_of("handler")},
      {"key", {.title = "key", .may_be_cut = true, .dispensable = 2}, text_of("key")},
      {state,
       {.title = state, .may_be_cut = live},
       [](const nlohmann::json& task, TimePoint) { return state_cell(task); }},
      {"attempts",
       {.title = "attempts", .right = true, .dispensable = 1},
       [](const nlohmann::json& task, TimePoint) { return Cell{std::to_string(task.value("attempts", 0))}; }},
      live ? TaskColumn{"next", {.title = "next", .dispensable = 3}, next_cell}
           : TaskColumn{"ended", {.title = "ended", .dispensable = 3}, time_of("finished_at")},
      {"error", {.title = "last error", .may_be_cut = true, .readable = kReadableError}, text_of("last_error")},
      {"created", {"created"}, time_of("created_at"), false},
      {"business-type", {"business type", true}, text_of("business_type"), false},
      {"business-id", {"business id", true}, text_of("business_id"), false},
  };
}

const std::vector<TaskColumn>& task_columns(TaskSet set) {
  static const std::vector<TaskColumn> live = columns_of(TaskSet::live);
  static const std::vector<TaskColumn> ended = columns_of(TaskSet::ended);
  return set == TaskSet::live ? live : ended;
}

const TaskColumn& column_named(TaskSet set, const std::string& name) {
  const auto& all = task_columns(set);
  return *std::find_if(all.begin(), all.end(), [&](const TaskColumn& one) { return one.name == name; });
}

std::vector<const TaskColumn*> chosen(const TaskTable::Options& options) {
  std::vector<const TaskColumn*> columns;
  for (const std::string& name : options.columns) columns.push_back(&column_named(options.set, name));
  if (!columns.empty()) return columns;
  for (const TaskColumn& one : task_columns(options.set)) {
    if (one.usual) columns.push_back(&one);
  }
  return columns;
}

std::vector<Column> layout_of(const TaskTable::Options& options) {
  std::vector<Column> columns;
  for (const TaskColumn* one : chosen(options)) {
    columns.push_back(one->column);
    if (!options.columns.empty()) columns.back().dispensable = 0;
  }
  return columns;
}

Terminal terminal_for(const TaskTable::Options& options) {
  Terminal terminal = stdout_terminal();
  if (options.wide) terminal.width = std::numeric_limits<std::size_t>::max();
  return terminal;
}

}  // namespace

std::vector<std::string> column_names(TaskSet set) {
  std::vector<std::string> names;
  for (const TaskColumn& one : task_columns(set)) names.push_back(one.name);
  return names;
}

TaskTable::TaskTable(const Options& options) : options_(options), table_(layout_of(options), terminal_for(options)) {}

void TaskTable::print(const nlohmann::json& tasks) {
  const TimePoint now = system_clock().now();
  const auto columns = chosen(options_);
  for (const nlohmann::json& task : tasks) {
    std::vector<Cell> row;
    row.reserve(columns.size());
    for (const TaskColumn* column : columns) row.push_back(column->cell(task, now));
    table_.add(std::move(row));
  }
  if (table_.empty()) return fmt::print("no tasks\n");
  table_.print();
}

}  // namespace easyretry::app
