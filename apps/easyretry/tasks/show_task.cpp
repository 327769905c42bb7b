#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "command_line.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

struct ShowOptions {
  ServiceOptions service;
  std::string id;
  Filters identity;  // handler and key, instead of the id
  std::string wait;
  bool args = false;
  bool result = false;
  bool as_json = false;
};

std::string time_text(const nlohmann::json& task, const char* field) {
  const std::string time = task.value(field, "");
  return time.empty() ? "" : fmt::format("{} ({})", time, when(task, field, system_clock().now()));
}

std::string attempts_text(const nlohmann::json& task) {
  const int most = task.at("policy").value("max_attempts", 0);
  const int crashes = task.value("crashes", 0);
  return fmt::format("{}{}{}", task.value("attempts", 0), most == 0 ? "" : fmt::format(" of {}", most),
                     crashes == 0 ? "" : fmt::format(", {} of them crashed", crashes));
}

// "2 failed in 1250ms by pay-1-4711, 5 min ago: the bank is busy"
std::string past_attempt_text(const nlohmann::json& attempt) {
  const auto took = attempt.find("took_ms");
  const std::string by = attempt.value("by", "");
  const std::string error = attempt.value("error", "");
  return fmt::format("{} {}{}{}, {}{}", attempt.value("number", 0), attempt.value("end", ""),
                     took == attempt.end() ? "" : " in " + base::to_text(Millis{took->get<std::int64_t>()}),
                     by.empty() ? "" : " by " + by, when(attempt, "ended_at", system_clock().now()),
                     error.empty() ? "" : ": " + error);
}

std::string left_out_text(const nlohmann::json& task) {
  return fmt::format("not kept: {} bytes, more than max_payload", task.value("result_left_out", std::int64_t{0}));
}

// For a live task: the state of an ended task says everything.
std::string waits_for_text(const nlohmann::json& task) {
  const auto waits = task.find("waits_for");
  if (waits == task.end() || waits->value("kind", "") == "finished") return "";
  return waits->value("text", "");
}

std::string duration_text(const nlohmann::json& policy) {
  const Millis most{policy.value("max_duration_ms", std::int64_t{0})};
  return most == Millis{0} ? "" : base::to_text(most);
}

void print_task(const nlohmann::json& task) {
  const FieldPrinter out;
  const nlohmann::json& policy = task.at("policy");
  const Cell state = state_cell(task);
  for (const char* field : {"id", "handler", "key", "namespace"}) out.line(field, task.value(field, ""));
  out.line("business type", task.value("business_type", ""));
  out.line("business id", task.value("business_id", ""));
  out.line("tags", fmt::format("{}", fmt::join(task.value("tags", std::vector<std::string>{}), ", ")));
  out.line("traceparent", task.value("traceparent", ""));
  out.line("class", task.value("class", ""));
  out.line("state", state.text, state.colour);
  out.line("waits for", waits_for_text(task));
  out.line("attempts", attempts_text(task));
  out.line("created", time_text(task, "created_at"));
  out.line("next", time_text(task, "next_at"));
  out.line("ended", time_text(task, "finished_at"));
  out.line("requeued as", task.value("requeued_as", ""));
  out.line("requeue of", task.value("requeue_of", ""));
  out.line("run by", task.value("locked_by", ""));
  out.line("lease until", time_text(task, "lease_until"));
  out.line("first failed", time_text(task, "first_failed_at"));
  out.line("last failed", time_text(task, "last_failed_at"));
  out.line("last error", task.value("last_error", ""));
  for (const nlohmann::json& attempt : task.value("last_attempts", nlohmann::json::array())) {
    out.line("attempt", past_attempt_text(attempt));
  }
  out.line("progress", task.value("progress", ""));
  out.line("backoff", policy.value("backoff", ""));
  out.line("max duration", duration_text(policy));
  out.line("deadline", time_text(policy, "deadline"));
  if (task.contains("args")) out.line("args", task["args"].dump());
  if (task.value("args_removed", false)) out.line("args", "removed");
  if (task.contains("result")) out.line("result", task["result"].dump());
  if (task.contains("result_left_out")) out.line("result", left_out_text(task));
}

// Empty if no task of the list matches.
std::string newest_id(Service& service, const std::string& list, Filters filters) {
  filters["limit"] = "1";
  const nlohmann::json page = service.ask({.path = {list}, .query = std::move(filters)});
  if (page.at("tasks").empty()) return {};
  return page.at("tasks").front().at("id").get<std::string>();
}

std::string id_of(Service& service, const ShowOptions& options) {
  if (!options.id.empty()) return options.id;
  std::string id = newest_id(service, "tasks", options.identity);
  if (!id.empty()) return id;
  Filters ended = options.identity;
  ended["requeued"] = "true";
  id = newest_id(service, "history", ended);
  if (!id.empty()) return id;
  throw std::runtime_error(fmt::format("there is no task of {} with the key {}", options.identity.at("handler"),
                                       options.identity.at("key")));
}

// A request waits for a few seconds at most: proxies and time limits would end a longer one.
nlohmann::json when_ended(Service& service, ApiRequest request, Millis wait) {
  constexpr Millis kLongestRequest{5000};
  const auto until = std::chrono::steady_clock::now() + wait;
  while (true) {
    const auto left = std::chrono::ceil<Millis>(until - std::chrono::steady_clock::now());
    request.query["wait_ms"] = std::to_string(std::clamp(left, Millis{0}, kLongestRequest).count());
    nlohmann::json task = service.ask(request);
    if (task.value("state", "") == "finished" || left <= Millis{0}) return task;
  }
}

void run(const ShowOptions& options) {
  if (options.id.empty() && options.identity.empty()) {
    throw CLI::RequiredError("id is required, or --handler and --key", CLI::ExitCodes::RequiredError);
  }
  const Millis wait = options.wait.empty() ? Millis{0} : base::parse_duration(options.wait);
  const auto service = open_service(options.service);
  ApiRequest request{.path = {"tasks", id_of(*service, options)}};
  if (options.args) request.query["args"] = "";
  if (options.result) request.query["result"] = "";
  const nlohmann::json task = wait > Millis{0} ? when_ended(*service, request, wait) : service->ask(request);
  options.as_json ? fmt::print("{}\n", json_text(task)) : print_task(task);
  if (wait > Millis{0} && task.value("state", "") != "finished") {
    throw std::runtime_error(fmt::format("the task has not ended within {}", options.wait));
  }
}

}  // namespace

void add_show_command(CLI::App& tasks) {
  auto* command = tasks.add_subcommand("show", "Shows one task in full, live or ended");
  auto options = std::make_shared<ShowOptions>();
  auto* id = command->add_option("id", options->id, "The id of the task; or --handler and --key");
  auto* handler = add_filter(*command, "handler", "The name of the handler", options->identity)->excludes(id);
  auto* key = add_filter(*command, "key", "The task key: the live task, or the last that ended", options->identity);
  key->excludes(id)->needs(handler);
  handler->needs(key);
  command->add_option("--wait", options->wait, "Until it has ended, but no longer than this: 30s, 10m")
      ->check(not_a_duration);
  command->add_flag("--args", options->args, "With its arguments; the token needs +payloads");
  command->add_flag("--result", options->result, "With its result, if that is kept (keep_results)");
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
