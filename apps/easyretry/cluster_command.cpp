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

}  // namespace easyretry::app
