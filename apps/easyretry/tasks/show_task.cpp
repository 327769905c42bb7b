#include "tasks/show_task.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "printing/json_text.h"
#include "printing/task_words.h"
#include "service/service_options.h"

namespace easyretry::app {
namespace {

struct ShowOptions {
  ServiceOptions service;
  std::string id;
  bool args = false;
  bool as_json = false;
};

class Sheet {
 public:
  void line(std::string_view label, const std::string& value, Colour colour = Colour::none) const {
    if (value.empty()) return;
    fmt::print("{}{}\n", coloured(terminal_, Colour::faint, fmt::format("{:<14}", label)),
               coloured(terminal_, colour, printable(value)));
  }

 private:
  const Terminal terminal_ = stdout_terminal();
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

std::string duration_text(const nlohmann::json& policy) {
  const Millis most{policy.value("max_duration_ms", std::int64_t{0})};
  return most == Millis{0} ? "" : base::to_text(most);
}

void print(const nlohmann::json& task) {
  const Sheet sheet;
  const nlohmann::json& policy = task.at("policy");
  const Cell state = state_cell(task);
  for (const char* field : {"id", "handler", "key", "namespace"}) sheet.line(field, task.value(field, ""));
  sheet.line("business type", task.value("business_type", ""));
  sheet.line("business id", task.value("business_id", ""));
  sheet.line("tags", fmt::format("{}", fmt::join(task.value("tags", std::vector<std::string>{}), ", ")));
  sheet.line("traceparent", task.value("traceparent", ""));
  sheet.line("state", state.text, state.colour);
  sheet.line("attempts", attempts_text(task));
  sheet.line("created", time_text(task, "created_at"));
  sheet.line("next", time_text(task, "next_at"));
  sheet.line("ended", time_text(task, "finished_at"));
  sheet.line("requeued as", task.value("requeued_as", ""));
  sheet.line("requeue of", task.value("requeue_of", ""));
  sheet.line("run by", task.value("locked_by", ""));
  sheet.line("lease until", time_text(task, "lease_until"));
  sheet.line("first failed", time_text(task, "first_failed_at"));
  sheet.line("last failed", time_text(task, "last_failed_at"));
  sheet.line("last error", task.value("last_error", ""));
  sheet.line("progress", task.value("progress", ""));
  sheet.line("backoff", policy.value("backoff", ""));
  sheet.line("max duration", duration_text(policy));
  sheet.line("deadline", time_text(policy, "deadline"));
  if (task.contains("args")) sheet.line("args", task["args"].dump());
}

void run(const ShowOptions& options) {
  Ask ask{.path = {"tasks", options.id}};
  if (options.args) ask.query["args"] = "";
  const nlohmann::json task = open_service(options.service)->ask(ask);
  options.as_json ? fmt::print("{}\n", json_text(task)) : print(task);
}

}  // namespace

void add_show_command(CLI::App& tasks) {
  auto* command = tasks.add_subcommand("show", "Shows one task in full, live or ended");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("id", options->id, "The id of the task")->required();
  command->add_flag("--args", options->args, "With its arguments; the token needs +payloads");
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
