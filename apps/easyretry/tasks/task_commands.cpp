#include "tasks/task_commands.h"

#include <algorithm>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include <easyretry/time.h>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "commands.h"

namespace easyretry::app {
namespace {

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

// A text that is not a duration is left to the API to validate.
std::string moment(const std::string& text) {
  try {
    return base::to_text(system_clock().now() - base::parse_duration(text));
  } catch (const std::invalid_argument&) {
    return text;
  }
}

}  // namespace

void add_tasks_command(CLI::App& app) {
  auto* tasks = app.add_subcommand("tasks", "Lists, shows, submits, retries, edits, cancels and requeues tasks");
  tasks->require_subcommand(1);
  add_list_command(*tasks, TaskSet::live);
  add_show_command(*tasks);
  add_submit_command(*tasks);
  add_retry_command(*tasks);
  add_edit_command(*tasks);
  add_cancel_command(*tasks);
  add_requeue_command(*tasks);
}

void add_history_command(CLI::App& app) {
  auto* history = app.add_subcommand("history", "Lists tasks that have ended");
  history->require_subcommand(1);
  add_list_command(*history, TaskSet::ended);
}

CLI::Option* add_filter(CLI::App& command, const std::string& name, const std::string& about, Filters& filters) {
  return command.add_option_function<std::string>(
      flag_of(name), [&filters, name](const std::string& value) { filters[name] = value; }, about);
}

std::vector<CLI::Option*> add_filters(CLI::App& command, TaskSet set, Filters& filters) {
  std::vector<std::pair<const char*, const char*>> all{
      {"handler", "The name of the handler"},
      {"key", "The task key"},
      {"business_type", "As given to submit"},
      {"business_id", "As given to submit"},
      {"created_from", "From this time on: 2026-03-01, 2026-03-01T12:00:00Z, or 2h for two hours ago"},
      {"created_until", "Before this time"}};
  if (set == TaskSet::live) {
    all.emplace_back("state", "pending or running");
  } else {
    all.emplace_back("outcome", "succeeded, exhausted, rejected, quarantined, parked or cancelled");
    all.emplace_back("finished_from", "As --created-from");
    all.emplace_back("finished_until", "Before this time");
  }
  std::vector<CLI::Option*> options;
  options.reserve(all.size());
  for (const auto& [name, about] : all) options.push_back(add_filter(command, name, about, filters));
  if (set == TaskSet::ended) {
    options.push_back(command.add_flag_callback(
        "--requeued", [&filters] { filters["requeued"] = "true"; }, "Also tasks that were requeued"));
  }
  return options;
}

bool restricts(const Filters& filters) {
  return filters.size() > filters.count("requeued");
}

Filters in_terms_of_the_api(Filters filters) {
  for (auto& [name, value] : filters) {
    if (name.ends_with("_from") || name.ends_with("_until")) value = moment(value);
  }
  return filters;
}

}  // namespace easyretry::app
