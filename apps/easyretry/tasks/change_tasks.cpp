#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command_line.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

using namespace std::chrono_literals;

// The tasks that a change applies to.
enum class Target { live, waiting, ended };

struct Change {
  std::string verb;  // "cancel", as the API calls it
  std::string past;  // "cancelled"
  Target target;
  bool ends = false;  // live tasks, and notifies their owners
};

struct ChangeOptions {
  Change change;
  ServiceOptions service;
  std::vector<std::string> ids;
  Filters filters;  // instead of ids
  bool everything = false;
  bool yes = false;
  bool dry_run = false;
  bool as_json = false;
  bool untold = false;
  std::string why;              // of fail
  std::string result;           // of complete, as JSON
  std::string args;             // of requeue, as JSON
  std::string as_class;         // of requeue
  std::int64_t per_second = 0;  // of all matching tasks; 0: no limit
};

constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr std::int64_t kMostOfAJob = 10'000'000;  // as the API allows

// For CLI::Option::check. `form`: the way to write the value.
auto json_as(const char* form) {
  return [form](const std::string& text) -> std::string {
    return nlohmann::json::accept(text) ? "" : fmt::format("this is not JSON; write it as {}", form);
  };
}

nlohmann::json details_of(const ChangeOptions& options) {
  nlohmann::json details = nlohmann::json::object();
  if (!options.why.empty()) details["why"] = options.why;
  if (!options.result.empty()) details["result"] = nlohmann::json::parse(options.result);
  if (!options.args.empty()) details["args"] = nlohmann::json::parse(options.args);
  if (!options.as_class.empty()) details["class"] = options.as_class;
  return details;
}

// The result for one task: {"id": …} with "cancelled", "completed", "failed", "retried", "requeued_as" or "error", and
// a "hint" if it waits for its callback in vain so far.
nlohmann::json changed(Service& service, const ChangeOptions& options, const std::string& id) {
  const Change& change = options.change;
  ApiRequest request{.method = Method::post, .path = {"tasks", id, change.verb}};
  if (options.untold) request.query = {{"untold", "true"}};
  const nlohmann::json details = details_of(options);
  if (change.ends || !details.empty()) request.body = details.dump();
  const nlohmann::json answer = service.ask(request);
  if (answer.contains("id")) return {{"id", id}, {"requeued_as", answer["id"]}};
  nlohmann::json done{{"id", id}, {change.past, true}};
  if (answer.contains("hint")) {
    done["hint"] = "its owner is told when an instance or a worker has its handler: --untold ends it now";
  }
  return done;
}

// The reason why the change does not apply to a task in this state; empty if it does.
std::string why_not(Target target, const std::string& state) {
  const bool ended = state == "finished";
  if (target == Target::ended) return ended ? "" : "it has not ended";
  if (ended) return "it has already ended";
  return target == Target::waiting && state == "running" ? "it is running" : "";
}

nlohmann::json would_be_changed(Service& service, const Change& change, const std::string& id) {
  const nlohmann::json task = service.ask({.path = {"tasks", id}});
  std::string error = why_not(change.target, task.value("state", ""));
  if (error.empty() && task.contains("requeued_as")) {
    error = fmt::format("task {} was already requeued as {}", id, task.value("requeued_as", ""));
  }
  if (error.empty()) return {{"id", id}, {"would_be_" + change.past, true}};
  return {{"id", id}, {"error", error}};
}

// A task that is missing or in the wrong state does not stop the others; any other error would affect them all.
nlohmann::json attempted(Service& service, const ChangeOptions& options, const std::string& id) {
  try {
    return options.dry_run ? would_be_changed(service, options.change, id) : changed(service, options, id);
  } catch (const ApiError& e) {
    if (e.status() != kNotFound && e.status() != kConflict) throw;
    return {{"id", id}, {"error", e.what()}};
  }
}

void print(const Change& change, const nlohmann::json& one) {
  const std::string id = printable(one.value("id", ""));
  if (one.contains("error")) {
    fmt::print(stderr, "{}: not {}: {}\n", id, change.past, one.value("error", ""));
  } else if (one.contains("requeued_as")) {
    fmt::print("{} requeued as {}\n", id, one.value("requeued_as", ""));
  } else {
    fmt::print("{} {}{}\n", id, one.contains(change.past) ? "" : "would be ", change.past);
    if (one.contains("hint")) fmt::print(stderr, "{}: {}\n", id, one.value("hint", ""));
  }
}

void confirm(const ChangeOptions& options) {
  if (options.ids.size() < 2 || options.yes || options.dry_run) return;
  require_yes(fmt::format("{} {} tasks?", options.change.verb, options.ids.size()));
}

nlohmann::json bulk_request(const ChangeOptions& options) {
  nlohmann::json request = details_of(options);
  request["action"] = options.change.verb;
  if (options.filters.empty()) {
    request["everything"] = true;
  } else {
    request["filter"] = in_terms_of_the_api(options.filters);
  }
  if (options.untold) request["untold"] = true;
  if (options.per_second > 0) request["per_second"] = options.per_second;
  return request;
}

nlohmann::json ask_bulk(Service& service, const nlohmann::json& request) {
  return service.ask({.method = Method::post, .path = {"bulk"}, .body = request.dump()});
}

// The daemon stops looking after a while.
const char* at_least(const nlohmann::json& preview) {
  return preview.value("complete", true) ? "" : "at least ";
}

void print_preview(const ChangeOptions& options, const nlohmann::json& preview) {
  if (options.as_json) return fmt::print("{}\n", json_text(preview));
  fmt::print("{}{} tasks would be {}\n", at_least(preview), preview.value("matched", 0), options.change.past);
  for (const nlohmann::json& id : preview.at("sample")) fmt::print("{}\n", id.get<std::string>());
  if (preview.at("sample").size() < preview.value("matched", std::size_t{0})) fmt::print("…\n");
}

nlohmann::json wait_for_job(Service& service, nlohmann::json job) {
  const ProgressBar bar;
  while (!job.contains("ended_at")) {
    std::this_thread::sleep_for(100ms);
    job = service.ask({.path = {"bulk", job.value("id", "")}});
    const auto done = job.value("changed", std::int64_t{0}) + job.value("skipped", std::int64_t{0});
    const auto of = job.value("matched", std::int64_t{0});
    bar.show(done, of, fmt::format("{} of {}", done, of));
  }
  return job;
}

// The same change for all tasks that match the filters: POST /v1/bulk, then waits until the job has ended. Without
// --yes, asks for confirmation, with the number of matching tasks.
void change_many(const ChangeOptions& options) {
  if (!restricts(options.filters) && !options.everything) {
    throw std::invalid_argument("select tasks by id, by options such as --handler, or all of them with --everything");
  }
  const auto service = open_service(options.service);
  nlohmann::json request = bulk_request(options);
  request["dry_run"] = true;
  const nlohmann::json preview = ask_bulk(*service, request);
  if (options.dry_run) return print_preview(options, preview);
  const auto matched = preview.value("matched", std::int64_t{0});
  const bool complete = preview.value("complete", true);
  if ((matched > 0 || !complete) && !options.yes) {
    require_yes(fmt::format("{} {}{} tasks?", options.change.verb, at_least(preview), matched));
  }
  // Only the tasks that were confirmed, not those created since.
  request["filter"]["created_until"] = preview.at("created_until");
  request.erase("everything");
  request["dry_run"] = false;
  // After "at least", there is no other bound to confirm.
  request["most"] = complete ? std::max<std::int64_t>(1, matched) : kMostOfAJob;
  const nlohmann::json job = wait_for_job(*service, ask_bulk(*service, request));
  if (options.as_json) {
    fmt::print("{}\n", json_text(job));
  } else {
    fmt::print("{} {}, {} skipped\n", job.value("changed", 0), options.change.past, job.value("skipped", 0));
  }
  if (job.value("state", "") != "done") {
    throw std::runtime_error(fmt::format("the job {} before it was done{}; run it again for the rest",
                                         job.value("state", ""),
                                         job.contains("error") ? ": " + job.value("error", "") : ""));
  }
}

void run(const ChangeOptions& options) {
  if (options.ids.empty()) return change_many(options);
  if (!options.args.empty() && options.ids.size() > 1) {
    throw std::invalid_argument("--args is for one task: give one id");
  }
  confirm(options);
  const auto service = open_service(options.service);
  nlohmann::json all = nlohmann::json::array();
  std::size_t failed = 0;
  for (const std::string& id : options.ids) {
    all.push_back(attempted(*service, options, id));
    if (all.back().contains("error")) ++failed;
    if (!options.as_json) print(options.change, all.back());
  }
  if (options.as_json) fmt::print("{}\n", json_text({{"tasks", all}}));
  if (failed > 0) {
    throw std::runtime_error(fmt::format("{} of {} could not be {}", failed, options.ids.size(), options.change.past));
  }
}

void add_change_command(CLI::App& tasks, Change change, const char* about) {
  auto* command = tasks.add_subcommand(change.verb, about);
  auto options = std::make_shared<ChangeOptions>();
  options->change = std::move(change);
  auto* ids = command->add_option("ids", options->ids, "Task ids; or select tasks with the options");
  const TaskSet set = options->change.target == Target::ended ? TaskSet::ended : TaskSet::live;
  std::vector<CLI::Option*> conditions = add_filters(*command, set, options->filters);
  auto* everything = command->add_flag("--everything", options->everything, "All tasks of the namespace");
  for (CLI::Option* condition : conditions) everything->excludes(condition);
  conditions.push_back(everything);
  for (CLI::Option* condition : conditions) condition->excludes(ids);
  command->add_flag("--yes", options->yes, "Do not ask before changing several tasks");
  command->add_flag("--dry-run", options->dry_run, "Only show what would be done");
  command
      ->add_option("--per-second", options->per_second, "With options instead of ids: change at most so many a second")
      ->check(CLI::Range(1, 10'000))
      ->excludes(ids);
  command->add_flag("--json", options->as_json, R"(One JSON object: {"tasks": [{"id": …}]}, or the bulk job)");
  if (options->change.ends) {
    command->add_flag("--untold", options->untold,
                      "Without notifying their owners: also ends tasks whose handler no instance has");
  }
  if (options->change.verb == "fail") {
    command->add_option("--why", options->why, "The reason; it is stored as the last error")->required();
  }
  if (options->change.verb == "complete") {
    auto* result = command->add_option("--result", options->result, "JSON for on_success; for tasks given by id");
    result->check(json_as(R"('{"receipt": "r-17"}', a text as '"r-17"')"));
    for (CLI::Option* condition : conditions) condition->excludes(result);
  }
  if (options->change.verb == "requeue") {
    auto* args = command->add_option("--args", options->args, "Other arguments, as JSON; for one task given by id");
    args->check(json_as(R"('[{"order": 7}]', as tasks submit takes it)"));
    for (CLI::Option* condition : conditions) condition->excludes(args);
    auto* as_class =
        command->add_option("--as-class", options->as_class,
                            "The class of the new tasks (default: of ids their own, otherwise background)");
    one_of(as_class, {"urgent", "normal", "background"});
  }
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace

void add_retry_command(CLI::App& tasks) {
  add_change_command(tasks, {"retry", "retried", Target::waiting},
                     "Makes tasks that wait for their next attempt due now");
}

void add_cancel_command(CLI::App& tasks) {
  add_change_command(tasks, {"cancel", "cancelled", Target::live, true}, "Ends tasks: they will not run (again)");
}

void add_complete_command(CLI::App& tasks) {
  add_change_command(tasks, {"complete", "completed", Target::live, true},
                     "Ends tasks as succeeded: their work was done by other means");
}

void add_fail_command(CLI::App& tasks) {
  add_change_command(tasks, {"fail", "failed", Target::live, true}, "Ends tasks as final failures");
}

void add_requeue_command(CLI::App& tasks) {
  add_change_command(tasks, {"requeue", "requeued", Target::ended}, "Starts ended tasks again, as new tasks");
}

}  // namespace easyretry::app
