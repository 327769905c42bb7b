#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "base/url.h"
#include "command_line.h"
#include "commands.h"
#include "doctor/checks.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

Health health_of(const std::string& word) {
  return word == "ok" ? Health::ok : word == "warn" ? Health::warn : Health::fail;
}

// The service recommends commands for its own machine. Here they are changed to ask the same service.
std::string addressed(std::string todo, const std::string& where) {
  constexpr std::string_view kCommand = "`easyretry ";
  for (auto at = todo.find(kCommand); at != std::string::npos; at = todo.find(kCommand, at)) {
    at = todo.find('`', at + kCommand.size());
    if (at == std::string::npos) break;
    todo.insert(at, where);
    at += where.size() + 1;
  }
  return todo;
}

// The problems that a daemon, or the API of a store, finds with its tasks. `where` is added to the commands that are
// recommended: " --store …".
Findings check_service(Service& service, Millis max_late, const std::string& where) {
  const nlohmann::json answer =
      service.ask({.path = {"doctor"}, .query = {{"max_late_ms", std::to_string(max_late.count())}}});
  Findings findings;
  for (const nlohmann::json& one : answer.at("checks")) {
    findings.push_back({health_of(one.value("result", "")), one.value("check", ""), one.value("what", ""),
                        addressed(one.value("todo", ""), where)});
  }
  return findings;
}

struct DoctorOptions {
  ServiceOptions service;
  std::string max_late = "5m";
  bool as_json = false;
};

Lateness bounds_of(const DoctorOptions& options, const Config& config) {
  return {config.engine.grace, base::parse_duration(options.max_late)};
}

// For the commands that are recommended, so that they ask the same daemon or store.
std::string where_of(const ServiceOptions& options) {
  std::string where;
  if (!options.store.empty()) where += fmt::format(" --store '{}'", base::without_password(options.store));
  if (options.store.empty() && options.server != ServiceOptions{}.server) where += " --server " + options.server;
  if (!options.name_space.empty()) where += " --namespace " + options.name_space;
  return where;
}

void append(Findings& all, Findings more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

bool has(const Findings& findings, Health health) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.health == health; });
}

// If the service does not answer, nothing else can be checked.
void ask_service(const DoctorOptions& options, const Lateness& bounds, Findings& findings) {
  const bool daemon = options.service.store.empty();
  const std::string where = where_of(options.service);
  try {
    const auto service = open_service(options.service);
    append(findings, check_service(*service, bounds.fail_above, where));
    if (daemon) findings.insert(findings.begin(), {Health::ok, "daemon", options.service.server + " answers"});
  } catch (const std::exception& e) {
    findings.push_back(
        {Health::fail, daemon ? "daemon" : "tasks", e.what(), "fix this first, then run this command again"});
  }
}

// A check that fails does not hide the others. Only an invalid configuration, or a store that cannot be opened, leaves
// nothing to check.
Findings run_checks(const DoctorOptions& options) {
  Findings findings;
  try {
    const Config config = config_of(options.service);
    validate(config.engine);
    const Lateness bounds = bounds_of(options, config);
    append(findings, check_files(config));
    const bool daemon = options.service.store.empty();
    if (daemon || check_store(config, bounds, where_of(options.service), findings)) {
      ask_service(options, bounds, findings);
    }
  } catch (const std::invalid_argument& e) {
    findings.push_back(
        {Health::fail, "configuration", e.what(), "`easyretry config check` lists everything that is wrong with it"});
  }
  return findings;
}

Colour colour_of(Health health) {
  return health == Health::ok ? Colour::green : health == Health::warn ? Colour::yellow : Colour::red;
}

void print(const Findings& findings) {
  const Terminal terminal = stdout_terminal();
  for (const Finding& one : findings) {
    const std::string word = fmt::format("{:<4}", to_string(one.health));
    fmt::print("{}  {:<16} {}\n", coloured(terminal, colour_of(one.health), word), one.check, printable(one.what));
    if (!one.todo.empty()) fmt::print("      {:<16} {}\n", "to do:", printable(one.todo));
  }
}

void print_json(const Findings& findings) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Finding& one : findings) {
    checks.push_back({{"check", one.check}, {"result", to_string(one.health)}, {"what", one.what}, {"todo", one.todo}});
  }
  fmt::print("{}\n", json_text({{"checks", checks}, {"healthy", !has(findings, Health::fail)}}));
}

void run(const DoctorOptions& options) {
  const Findings findings = run_checks(options);
  options.as_json ? print_json(findings) : print(findings);
  if (has(findings, Health::fail)) throw std::runtime_error("something is wrong; see above for what to do");
}

}  // namespace

void add_doctor_command(CLI::App& app) {
  auto* command = app.add_subcommand("doctor", "Checks a daemon or a store, and says how to fix what is wrong");
  auto options = std::make_shared<DoctorOptions>();
  command->add_option("--max-late", options->max_late, "Fails if a task has been due for longer, and does not run")
      ->capture_default_str()
      ->check(not_a_duration);
  command->add_flag("--json", options->as_json, R"(One JSON object: {"healthy": true, "checks": […]})");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
