#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command_line.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"
#include "tasks/task_table.h"

namespace easyretry::app {
namespace {

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
