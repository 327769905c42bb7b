// Lists of tasks, as tables or JSON.

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <easyretry/time.h>

#include "command_line.h"
#include "printing/table.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

struct TableOptions {
  TaskSet set = TaskSet::live;
  std::vector<std::string> columns{};  // exactly these, in this order; empty: the usual ones that have room
  bool wide = false;                   // everything in full, even wider than the terminal
};

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

std::vector<const TaskColumn*> chosen(const TableOptions& options) {
  std::vector<const TaskColumn*> columns;
  for (const std::string& name : options.columns) columns.push_back(&column_named(options.set, name));
  if (!columns.empty()) return columns;
  for (const TaskColumn& one : task_columns(options.set)) {
    if (one.usual) columns.push_back(&one);
  }
  return columns;
}

std::vector<Column> layout_of(const TableOptions& options) {
  std::vector<Column> columns;
  for (const TaskColumn* one : chosen(options)) {
    columns.push_back(one->column);
    if (!options.columns.empty()) columns.back().dispensable = 0;
  }
  return columns;
}

Terminal terminal_for(const TableOptions& options) {
  Terminal terminal = stdout_terminal();
  if (options.wide) terminal.width = std::numeric_limits<std::size_t>::max();
  return terminal;
}

// The columns that a list of tasks can have.
std::vector<std::string> column_names(TaskSet set) {
  std::vector<std::string> names;
  for (const TaskColumn& one : task_columns(set)) names.push_back(one.name);
  return names;
}

// A list of tasks, page by page.
class TaskTable {
 public:
  explicit TaskTable(const TableOptions& options)
      : options_(options), table_(layout_of(options), terminal_for(options)) {}

  void print(const nlohmann::json& tasks) {
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
  const Table& table() const { return table_; }

 private:
  const TableOptions options_;
  Table table_;
};

constexpr const char* kLargestPage = "1000";

struct ListOptions {
  TaskSet set = TaskSet::live;
  ServiceOptions service;
  Filters filters;
  std::vector<std::string> columns;
  bool wide = false;
  bool all = false;
  bool as_json = false;
};

// {"tasks":[…]}, written page by page.
class JsonList {
 public:
  JsonList() { fmt::print("{{\"tasks\":["); }
  void print(const nlohmann::json& tasks) {
    for (const nlohmann::json& task : tasks)
      fmt::print("{}{}", std::exchange(first_, false) ? "" : ",", json_text(task));
  }
  void end(const std::string& next) const { fmt::print("]{}}}\n", next.empty() ? "" : ",\"next\":" + json_text(next)); }

 private:
  bool first_ = true;
};

// Calls `show` with each page, and returns where the next page would begin.
template <class Show>
std::string each_page(Service& service, const ListOptions& options, Show show) {
  ApiRequest request{.path = {options.set == TaskSet::live ? "tasks" : "history"},
                     .query = in_terms_of_the_api(options.filters)};
  if (options.all) request.query["limit"] = kLargestPage;
  while (true) {
    const nlohmann::json page = service.ask(request);
    show(page.at("tasks"));
    std::string next = page.value("next", "");
    if (!options.all || next.empty()) return next;
    request.query["after"] = std::move(next);
  }
}

void list_as_json(Service& service, const ListOptions& options) {
  std::unique_ptr<JsonList> list;  // nothing is printed before the first answer
  const std::string next = each_page(service, options, [&](const nlohmann::json& tasks) {
    if (!list) list = std::make_unique<JsonList>();
    list->print(tasks);
  });
  list->end(next);
}

void run(const ListOptions& options) {
  const auto service = open_service(options.service);
  if (options.as_json) return list_as_json(*service, options);
  TaskTable table{{options.set, options.columns, options.wide}};
  const std::string next = each_page(*service, options, [&](const nlohmann::json& tasks) { table.print(tasks); });
  if (const auto left_out = table.table().left_out(); !left_out.empty()) {
    fmt::print(stderr, "no room for: {}; see --wide and --columns\n", fmt::join(left_out, ", "));
  }
  if (!next.empty()) fmt::print(stderr, "there may be more: --after {}, or --all\n", next);
}

}  // namespace

void add_list_command(CLI::App& parent, TaskSet set) {
  auto* command = parent.add_subcommand("list", set == TaskSet::live ? "Lists live tasks" : "Lists ended tasks");
  auto options = std::make_shared<ListOptions>();
  options->set = set;
  auto* all = command->add_flag("--all", options->all, "All pages");
  add_filters(*command, set, options->filters);
  command->add_flag_callback(
      "--oldest-first", [options] { options->filters["order"] = "oldest"; },
      "The oldest tasks first, instead of the newest");
  add_filter(*command, "after", "Continue after the previous page, which says where it ended", options->filters);
  all->excludes(add_filter(*command, "limit", "Tasks per page, up to 1000 (default: 100)", options->filters));
  auto* columns = command->add_option("--columns", options->columns, "Only these columns: id,handler,error");
  one_of(columns, column_names(set))->delimiter(',');
  auto* wide = command->add_flag("--wide", options->wide, "Everything in full, wider than the terminal");
  auto* json = command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  for (CLI::Option* of_table : {columns, wide}) json->excludes(of_table);
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
