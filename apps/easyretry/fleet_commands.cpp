// The instances that share a store, and the handlers that they serve.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "commands.h"
#include "printing/table.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"

namespace easyretry::app {
namespace {

struct ClusterOptions {
  ServiceOptions service;
  std::string membership;
  bool as_json = false;
};

std::string handlers_of(const nlohmann::json& member) {
  if (!member.contains("handlers")) return "?";  // the member does not report its handlers, or has too many
  const auto names = member.at("handlers").get<std::vector<std::string>>();
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

void print_members(const nlohmann::json& cluster) {
  if (cluster.at("members").empty()) return fmt::print("(no members)\n");
  const TimePoint now = base::parse_time(cluster.at("now").get<std::string>());
  Table table{{{"member", true}, {"for", false, true}, {"shards", true}, {"handlers", true}}, stdout_terminal()};
  for (const nlohmann::json& member : cluster.at("members")) {
    const std::string since = member.value("since", "");
    table.add({{member.value("node", "")},
               {since.empty() ? "" : age_text(now - base::parse_time(since))},
               {member.value("says", "")},
               {handlers_of(member)}});
  }
  table.print();
}

// The latest shards first.
void print_lags(const nlohmann::json& late) {
  constexpr std::size_t kMostLags = 10;
  if (late.empty()) return fmt::print("\nnothing is due\n");
  std::vector<std::pair<std::int64_t, std::string>> lags;
  for (const auto& [shard, ms] : late.items()) lags.emplace_back(ms.get<std::int64_t>(), shard);
  std::stable_sort(lags.begin(), lags.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  fmt::print("\n{:<8} {:>10}\n", "shard", "late");
  for (std::size_t i = 0; i < std::min(kMostLags, lags.size()); ++i) {
    fmt::print("{:<8} {:>8.1f} s\n", lags[i].second, static_cast<double>(lags[i].first) / 1000);
  }
  if (lags.size() > kMostLags) fmt::print("… and {} more shards, less late\n", lags.size() - kMostLags);
}

void print_cluster(const nlohmann::json& cluster) {
  fmt::print(
      "members according to {}, {} ago{}\n\n", printable(cluster.value("source", "")),
      age_text(Millis{cluster.value("age_ms", 0)}),
      cluster.value("trusted", true) ? "" : ": the last good list; the source now reports something else or nothing");
  print_members(cluster);
  for (const nlohmann::json& one : cluster.at("refused")) {
    fmt::print("{} is not a member: {}\n", printable(one.value("who", "")), printable(one.value("why", "")));
  }
  if (cluster.contains("trouble")) {
    fmt::print("\nit is unknown how late tasks are: {}\n", printable(cluster.value("trouble", "")));
  } else {
    print_lags(cluster.at("late_ms"));
  }
}

std::unique_ptr<Service> service_of(const ClusterOptions& options) {
  if (options.membership.empty()) return open_service(options.service);
  Config config = config_of(options.service);
  config.engine.membership = options.membership;
  return open_local_service(config);
}

void run(const ClusterOptions& options) {
  const nlohmann::json cluster = service_of(options)->ask({.path = {"cluster"}});
  options.as_json ? fmt::print("{}\n", json_text(cluster)) : print_cluster(cluster);
}

}  // namespace

void add_cluster_command(CLI::App& app) {
  auto* command = app.add_subcommand("cluster", "Shows the instances that share a store, and how late its shards are");
  auto options = std::make_shared<ClusterOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  command
      ->add_option(
          "--membership", options->membership,
          "With --store: how the instances find each other, if not in the configuration: static:2/8, nacos://…")
      ->needs("--store")
      ->group("Where");
  command->callback([options] { run(*options); });
}

namespace {

// Shared by `easyretry handlers` and its subcommands.
struct HandlersOptions {
  ServiceOptions service;
  bool as_json = false;
};

struct PauseOptions {
  std::string name;
  std::string why;
};

CLI::App* add_command(CLI::App& handlers, HandlersOptions& options, PauseOptions& change, const char* verb,
                      const char* about) {
  auto* command = handlers.add_subcommand(verb, about);
  command->add_option("name", change.name, "The name of the handler")->required();
  command->add_flag("--json", options.as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options.service);
  return command;
}

// "did you mean mail.send?"; empty if no other name is similar.
std::string suggestion(const nlohmann::json& handler) {
  const std::string meant = handler.value("did_you_mean", "");
  return meant.empty() ? "" : fmt::format("did you mean {}?", printable(meant));
}

// An unknown name is usually a typing error, but the instances that have the handler may be down.
void warn_if_unknown(Service& service, const std::string& name) {
  const nlohmann::json answer = service.ask({.path = {"handlers"}});
  std::string question;
  for (const nlohmann::json& handler : answer.at("handlers")) {
    if (handler.value("name", "") != name) continue;
    if (handler.value("served", false) || handler.value("stored", std::int64_t{0}) > 0) return;
    question = suggestion(handler);
  }
  fmt::print(stderr, "note: no task of {} was ever stored, and no instance runs it; {}\n", printable(name),
             question.empty() ? "is the name right?" : question);
}

void pause(const HandlersOptions& options, const PauseOptions& change) {
  const auto service = open_service(options.service);
  const nlohmann::json answer = service->ask({.method = Method::post,
                                              .path = {"handlers", change.name, "pause"},
                                              .body = nlohmann::json{{"why", change.why}}.dump()});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  fmt::print("{} {} until `easyretry handlers resume {}`\n", printable(change.name),
             answer.value("changed", false) ? "is paused: within two seconds, no instance runs its tasks,"
                                            : "was already paused, and stays paused",
             printable(change.name));
  warn_if_unknown(*service, change.name);
}

void resume(const HandlersOptions& options, const PauseOptions& change) {
  const nlohmann::json answer =
      open_service(options.service)->ask({.method = Method::post, .path = {"handlers", change.name, "resume"}});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  fmt::print("{} {}\n", printable(change.name),
             answer.value("changed", false) ? "is resumed: its tasks run again" : "was not paused");
}

void add_pause_command(CLI::App& handlers, HandlersOptions& options) {
  auto change = std::make_shared<PauseOptions>();
  auto* command = add_command(handlers, options, *change, "pause", "Pauses a handler: no instance runs its tasks");
  command->add_option("--why", change->why, "The reason, shown to other operators");
  command->callback([&options, change] { pause(options, *change); });
}

void add_resume_command(CLI::App& handlers, HandlersOptions& options) {
  auto change = std::make_shared<PauseOptions>();
  auto* command = add_command(handlers, options, *change, "resume", "Resumes a paused handler");
  command->callback([&options, change] { resume(options, *change); });
}

// "12 succeeded, 1 exhausted"
std::string outcomes(const nlohmann::json& ended) {
  std::string text;
  for (const auto& [outcome, number] : ended.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number.get<std::int64_t>(), outcome);
  }
  return text;
}

// As the daemon reports: "2 waiting", "asked 3 h ago". Empty if no worker has asked since it started.
std::string workers_text(const nlohmann::json& handler) {
  const auto waiting = handler.value("waiting_workers", std::size_t{0});
  if (waiting > 0) return fmt::format("{} waiting", waiting);
  if (!handler.contains("last_asked_at")) return "";
  const TimePoint asked = base::parse_time(handler.value("last_asked_at", ""));
  return fmt::format("asked {} ago", age_text(std::max(Millis{0}, Millis{system_clock().now() - asked})));
}

// "yes, 2 waiting", "no, asked 3 h ago". Empty if it is unknown: only a daemon knows which handlers are served.
Cell served_cell(const nlohmann::json& handler) {
  if (!handler.contains("served")) return {};
  const std::string workers = workers_text(handler);
  if (handler.value("served", false)) return {workers.empty() ? "yes" : "yes, " + workers};
  return {workers.empty() ? "no, never asked" : "no, " + workers, Colour::yellow};
}

void print_suggestions(const nlohmann::json& handlers) {
  for (const nlohmann::json& handler : handlers) {
    const std::string question = suggestion(handler);
    if (question.empty()) continue;
    fmt::print(stderr, "note: no instance runs {}; {}\n", printable(handler.value("name", "")), question);
  }
}

// "3 h: gateway down"
Cell paused_cell(const nlohmann::json& handler) {
  if (!handler.contains("paused")) return {};
  const nlohmann::json& paused = handler["paused"];
  const std::string age = age_text(system_clock().now() - base::parse_time(paused.value("since", "")));
  const std::string why = paused.value("why", "");
  return {why.empty() ? age : age + ": " + why, Colour::yellow};
}

void print_handlers(const nlohmann::json& handlers) {
  if (handlers.empty()) return fmt::print("no handlers\n");
  Table table{{{"handler", true},
               {"live", false, true},
               {"stored", false, true},
               {"served", true},
               {"paused", true},
               {"ended", true}},
              stdout_terminal()};
  for (const nlohmann::json& handler : handlers) {
    table.add({{handler.value("name", "")},
               {std::to_string(handler.value("live", std::int64_t{0}))},
               {std::to_string(handler.value("stored", std::int64_t{0}))},
               served_cell(handler),
               paused_cell(handler),
               {outcomes(handler.at("ended"))}});
  }
  table.print();
  print_suggestions(handlers);
}

void run(const HandlersOptions& options) {
  const nlohmann::json answer = open_service(options.service)->ask({.path = {"handlers"}});
  options.as_json ? fmt::print("{}\n", json_text(answer)) : print_handlers(answer.at("handlers"));
}

}  // namespace

void add_handlers_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "handlers", "Shows the handlers with their live, stored and ended tasks; pauses and resumes them");
  auto options = std::make_shared<HandlersOptions>();
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  add_pause_command(*command, *options);
  add_resume_command(*command, *options);
  command->require_subcommand(0, 1);
  command->callback([options, command] {
    if (command->get_subcommands().empty()) run(*options);
  });
}

}  // namespace easyretry::app
