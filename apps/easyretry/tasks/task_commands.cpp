#include "tasks/task_commands.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include <easyretry/time.h>

#include "base/duration_text.h"
#include "base/time_text.h"
#include "command_line.h"
#include "commands.h"
#include "task/error_kind.h"
#include "task/list_cursor.h"
#include "task/record.h"

namespace easyretry::app {
namespace {

constexpr const char* kAttempts = "attempts_from";

std::string flag_of(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::vector<std::string> names_of_outcomes() {
  std::vector<std::string> names;
  for (const Outcome outcome : task::all_outcomes()) names.emplace_back(to_string(outcome));
  return names;
}

bool is_moment(const std::string& name) {
  return name == "from" || (name != kAttempts && (name.ends_with("_from") || name.ends_with("_until")));
}

// Two hours ago for "2h".
std::string moment(const std::string& text) {
  if (!not_a_duration(text).empty()) return text;
  return base::to_text(system_clock().now() - base::parse_duration(text));
}

// The API's objection to a value, in terms of options and before anything is sent. Empty if there is none.
std::string objection_to(const std::string& name, const std::string& value) {
  if (is_moment(name)) return not_a_moment(value);
  if (name == "limit") return not_a_whole_number(value, 1, 1000);
  if (name == kAttempts) return not_a_whole_number(value, 1, 1'000'000);
  if (name == "after" && !task::parse_list_cursor(value)) {
    return "\"" + value + "\" is not the end of a page; the command that printed the page says what to write";
  }
  if (name == "error" && !task::is_fingerprint(value)) {
    return "\"" + value + "\" is not a fingerprint of `easyretry errors`, which has 16 hexadecimal digits";
  }
  return "";
}

}  // namespace

void add_tasks_command(CLI::App& app) {
  auto* tasks = app.add_subcommand("tasks", "Lists, shows, submits, retries, edits, ends and requeues tasks");
  tasks->require_subcommand(1);
  add_list_command(*tasks, TaskSet::live);
  add_show_command(*tasks);
  add_submit_command(*tasks);
  add_retry_command(*tasks);
  add_edit_command(*tasks);
  add_cancel_command(*tasks);
  add_complete_command(*tasks);
  add_fail_command(*tasks);
  add_requeue_command(*tasks);
}

void add_history_command(CLI::App& app) {
  auto* history = app.add_subcommand("history", "Lists tasks that have ended");
  history->require_subcommand(1);
  add_list_command(*history, TaskSet::ended);
}

CLI::Option* add_filter(CLI::App& command, const std::string& name, const std::string& about, Filters& filters) {
  return command
      .add_option_function<std::string>(
          flag_of(name), [&filters, name](const std::string& value) { filters[name] = value; }, about)
      ->check([name](const std::string& value) { return objection_to(name, value); });
}

std::vector<CLI::Option*> add_filters(CLI::App& command, TaskSet set, Filters& filters) {
  std::vector<std::pair<const char*, const char*>> all{
      {"handler", "The name of the handler"},
      {"key", "The task key"},
      {"business_type", "As given to submit"},
      {"business_id", "As given to submit"},
      {"created_from", "From this time on: 2026-03-01, 2026-03-01T12:00:00Z, or 2h for two hours ago"},
      {"created_until", "Before this time"},
      {"error", "The kind of error: a fingerprint of `easyretry errors`"},
      {kAttempts, "At least so many attempts"},
      {"tag", "One of the tags, as given to submit"}};
  if (set == TaskSet::live) {
    all.emplace_back("due_from", "Due from this time on");
    all.emplace_back("due_until", "Due before this time");
    all.emplace_back("owner", "Running on this instance");
  }
  if (set == TaskSet::ended) {
    all.emplace_back("finished_from", "As --created-from");
    all.emplace_back("finished_until", "Before this time");
  }
  std::vector<CLI::Option*> options;
  options.reserve(all.size() + 4);
  for (const auto& [name, about] : all) options.push_back(add_filter(command, name, about, filters));
  options.push_back(
      one_of(add_filter(command, "class", "Who is served first", filters), {"urgent", "normal", "background"}));
  options.push_back(command.add_flag_callback(
      "--failed", [&filters] { filters["failed"] = "true"; },
      set == TaskSet::live ? "Those whose latest attempt failed" : "Those that ended neither succeeded nor cancelled"));
  if (set == TaskSet::live) {
    options.push_back(one_of(add_filter(command, "state", "The state", filters), {"pending", "running"}));
  } else {
    options.push_back(one_of(add_filter(command, "outcome", "How it ended", filters), names_of_outcomes()));
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
    if (is_moment(name)) value = moment(value);
  }
  return filters;
}

}  // namespace easyretry::app
