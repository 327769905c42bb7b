#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "doctor/checks.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

struct DoctorOptions {
  ServiceOptions service;
  bool as_json = false;
};

void append(Findings& all, Findings more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

bool has(const Findings& findings, Health health) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.health == health; });
}

// If the service does not answer, nothing else can be checked.
void check_service(const DoctorOptions& options, Findings& findings) {
  const bool daemon = options.service.store.empty();
  try {
    const auto service = open_service(options.service);
    if (daemon) {
      append(findings, check_daemon(*service));
      findings.insert(findings.begin(), {Health::ok, "daemon", options.service.server + " answers"});
    }
    append(findings, check_tasks(*service));
  } catch (const std::exception& e) {
    findings.push_back(
        {Health::fail, daemon ? "daemon" : "tasks", e.what(), "fix this first, then run this command again"});
  }
}

Findings run_checks(const DoctorOptions& options) {
  Findings findings;
  try {
    const Config config = config_of(options.service);
    validate(config.engine);
    append(findings, check_files(config));
    if (!options.service.store.empty()) append(findings, check_store(config));
  } catch (const std::invalid_argument& e) {
    findings.push_back(
        {Health::fail, "configuration", e.what(), "`easyretry config check` lists everything that is wrong with it"});
  }
  if (!has(findings, Health::fail)) check_service(options, findings);
  return findings;
}

std::string_view word_for(Health health) {
  return health == Health::ok ? "ok" : health == Health::warn ? "warn" : "fail";
}

Colour colour_of(Health health) {
  return health == Health::ok ? Colour::green : health == Health::warn ? Colour::yellow : Colour::red;
}

void print(const Findings& findings) {
  const Terminal terminal = stdout_terminal();
  for (const Finding& one : findings) {
    const std::string word = fmt::format("{:<4}", word_for(one.health));
    fmt::print("{}  {:<16} {}\n", coloured(terminal, colour_of(one.health), word), one.check, printable(one.what));
    if (!one.todo.empty()) fmt::print("      {:<16} {}\n", "to do:", printable(one.todo));
  }
}

void print_json(const Findings& findings) {
  nlohmann::json checks = nlohmann::json::array();
  for (const Finding& one : findings) {
    checks.push_back({{"check", one.check}, {"result", word_for(one.health)}, {"what", one.what}, {"todo", one.todo}});
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
  command->add_flag("--json", options->as_json, R"(One JSON object: {"healthy": true, "checks": […]})");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
