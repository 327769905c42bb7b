#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

struct ShowOptions {
  ServiceOptions service;
  std::string id;
  bool args = false;
  bool as_json = false;
};

// Prints labelled values, one per line; empty values are left out.
class FieldPrinter {
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
  const FieldPrinter out;
  const nlohmann::json& policy = task.at("policy");
  const Cell state = state_cell(task);
  for (const char* field : {"id", "handler", "key", "namespace"}) out.line(field, task.value(field, ""));
  out.line("business type", task.value("business_type", ""));
  out.line("business id", task.value("business_id", ""));
  out.line("tags", fmt::format("{}", fmt::join(task.value("tags", std::vector<std::string>{}), ", ")));
  out.line("traceparent", task.value("traceparent", ""));
  out.line("state", state.text, state.colour);
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
  out.line("progress", task.value("progress", ""));
  out.line("backoff", policy.value("backoff", ""));
  out.line("max duration", duration_text(policy));
  out.line("deadline", time_text(policy, "deadline"));
  if (task.contains("args")) out.line("args", task["args"].dump());
}

void run(const ShowOptions& options) {
  ApiRequest request{.path = {"tasks", options.id}};
  if (options.args) request.query["args"] = "";
  const nlohmann::json task = open_service(options.service)->ask(request);
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
