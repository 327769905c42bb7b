#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "command_line.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

struct EditOptions {
  ServiceOptions service;
  std::string id;
  std::string policy;
  std::optional<int> max_attempts;
  std::string max_duration;
  std::string deadline;
  std::string backoff;
  bool dry_run = false;
  bool as_json = false;
};

nlohmann::json given_policy(const std::string& text) {
  auto policy = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!policy.is_object()) {
    throw std::invalid_argument(R"(--policy is not a JSON object; write it as '{"max_attempts": 40}')");
  }
  return policy;
}

nlohmann::json policy_of(const EditOptions& options) {
  if (!options.policy.empty()) return given_policy(options.policy);
  nlohmann::json policy = nlohmann::json::object();
  if (options.max_attempts) policy["max_attempts"] = *options.max_attempts;
  if (!options.max_duration.empty()) policy["max_duration_ms"] = base::parse_duration(options.max_duration).count();
  if (options.deadline == "none") policy["deadline"] = nullptr;
  if (!options.deadline.empty() && options.deadline != "none") policy["deadline"] = options.deadline;
  if (!options.backoff.empty()) policy["backoff"] = options.backoff;
  if (policy.empty()) {
    throw std::invalid_argument(
        "nothing to change; give --max-attempts, --max-duration, --deadline, --backoff or --policy");
  }
  return policy;
}

void run(const EditOptions& options) {
  const std::string request = nlohmann::json{{"policy", policy_of(options)}}.dump();
  if (options.dry_run) {
    fmt::print("{}\n", request);
    return fmt::print(stderr, "nothing was sent: this is a dry run\n");
  }
  const nlohmann::json task =
      open_service(options.service)->ask({.method = Method::patch, .path = {"tasks", options.id}, .body = request});
  options.as_json ? fmt::print("{}\n", json_text(task)) : fmt::print("{} edited\n", printable(options.id));
}

}  // namespace

void add_edit_command(CLI::App& tasks) {
  auto* command = tasks.add_subcommand("edit", "Changes the policy of a waiting task; what is not given stays");
  auto options = std::make_shared<EditOptions>();
  command->add_option("id", options->id, "The id of the task")->required();
  auto* policy = command->add_option("--policy", options->policy, R"(JSON, as in `show`: '{"max_attempts": 40}')");
  const auto add = [&](const char* flag, auto& value, const char* about) {
    return command->add_option(flag, value, about)->excludes(policy);
  };
  add("--max-attempts", options->max_attempts, "In total, including those already made; 0 for no limit");
  add("--max-duration", options->max_duration, "Since it was stored: 90s, 15m, 2h, 7d; 0s for no limit")
      ->check(not_a_duration);
  add("--deadline", options->deadline, "No attempt after 2026-03-01T12:00:00Z; none removes it");
  add("--backoff", options->backoff, "'fixed delay=10m', 'exponential first=1s factor=2 cap=15m jitter=1s'");
  command->add_flag("--dry-run", options->dry_run, "Prints what would be sent");
  command->add_flag("--json", options->as_json, "The changed task, as returned by the API");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
