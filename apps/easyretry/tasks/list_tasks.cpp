#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <easyretry/time.h>

#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

constexpr const char* kLargestPage = "1000";

struct ListOptions {
  TaskSet set = TaskSet::live;
  ServiceOptions service;
  Filters filters;
  bool all = false;
  bool as_json = false;
};

class TaskTable {
 public:
  explicit TaskTable(TaskSet set) : set_(set), table_(columns(set), stdout_terminal()) {}

  void print(const nlohmann::json& tasks) {
    const TimePoint now = system_clock().now();
    for (const nlohmann::json& task : tasks) table_.add(row(task, now));
    if (table_.empty()) return fmt::print("no tasks\n");
    table_.print();
  }

 private:
  static std::vector<Column> columns(TaskSet set) {
    const bool live = set == TaskSet::live;
    return {{"id"},
            {"handler", true},
            {"key", true},
            {live ? "state" : "outcome"},
            {"attempts", false, true},
            {live ? "next" : "ended"},
            {"last error", true}};
  }

  std::vector<Cell> row(const nlohmann::json& task, TimePoint now) const {
    const bool waits = task.value("state", "") == "pending";
    return {{task.value("id", "")},
            {task.value("handler", "")},
            {task.value("key", "")},
            state_cell(task),
            {std::to_string(task.value("attempts", 0))},
            {set_ == TaskSet::ended ? when(task, "finished_at", now)
             : waits                ? when(task, "next_at", now)
                                    : ""},
            {task.value("last_error", "")}};
  }

  const TaskSet set_;
  Table table_;
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
  TaskTable table{options.set};
  const std::string next = each_page(*service, options, [&](const nlohmann::json& tasks) { table.print(tasks); });
  if (!next.empty()) fmt::print(stderr, "there may be more: --after {}, or --all\n", next);
}

}  // namespace

void add_list_command(CLI::App& parent, TaskSet set) {
  auto* command = parent.add_subcommand("list", set == TaskSet::live ? "Lists live tasks" : "Lists ended tasks");
  auto options = std::make_shared<ListOptions>();
  options->set = set;
  auto* all = command->add_flag("--all", options->all, "All pages");
  add_filters(*command, set, options->filters);
  add_filter(*command, "after", "The last id of the previous page", options->filters);
  all->excludes(add_filter(*command, "limit", "Tasks per page, up to 1000 (default: 100)", options->filters));
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
