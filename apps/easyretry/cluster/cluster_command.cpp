#include "cluster/cluster_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/sighting.h"
#include "printing/relative_time.h"
#include "storage/lag.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

using storage::Store;

struct ClusterOptions {
  std::string store;
  std::string space = "default";
  std::string membership = "store";
  bool as_json = false;
};

struct ShardLag {
  ShardId shard{};
  Millis late{};  // of the task that has been due for longest and is run by nobody
};

struct Cluster {
  cluster::Sighting seen;
  std::vector<ShardLag> lags;  // of shards that have something due; the latest first
};

template <class T>
T must(Result<T> result) {
  if (!result) throw StoreError{std::move(result.error())};
  return *std::move(result);
}

// The latest first.
std::vector<ShardLag> lags(Store& store, const std::string& space) {
  std::vector<ShardLag> lags;
  for (const auto& [shard, late] : must(storage::look_for_lag(store, space, 1)).shards) lags.push_back({shard, late});
  std::stable_sort(lags.begin(), lags.end(), [](const ShardLag& a, const ShardLag& b) { return a.late > b.late; });
  return lags;
}

void print(const Cluster& cluster) {
  constexpr std::size_t kMostLags = 10;
  const cluster::Sighting& seen = cluster.seen;
  fmt::print("members by {}, {} ago\n\n", seen.source, age_text(seen.age));
  fmt::print("{:<48} {:>8}  {}\n", "member", "for", "shards");
  for (const Member& member : seen.roll.members) {
    const bool known = member.since != TimePoint{};  // not of places that were written down
    fmt::print("{:<48} {:>8}  {}\n", member.node, known ? age_text(seen.now - member.since) : "", member.says);
  }
  if (seen.roll.members.empty()) fmt::print("(nobody)\n");
  for (const cluster::Refused& one : seen.roll.refused) fmt::print("{} is no member: {}\n", one.who, one.why);
  if (cluster.lags.empty()) return fmt::print("\nnothing is due\n");
  fmt::print("\n{:<8} {:>10}\n", "shard", "late");
  for (std::size_t i = 0; i < std::min(kMostLags, cluster.lags.size()); ++i) {
    const ShardLag& lag = cluster.lags[i];
    fmt::print("{:<8} {:>8.1f} s\n", static_cast<int>(lag.shard), static_cast<double>(lag.late.count()) / 1000);
  }
  if (cluster.lags.size() > kMostLags) fmt::print("… and {} shards less late\n", cluster.lags.size() - kMostLags);
}

void print_json(const Cluster& cluster) {
  nlohmann::json members = nlohmann::json::array();
  for (const Member& member : cluster.seen.roll.members) {
    members.push_back(
        {{"node", member.node}, {"since_ms", member.since.time_since_epoch().count()}, {"shards", member.says}});
  }
  nlohmann::json refused = nlohmann::json::array();
  for (const cluster::Refused& one : cluster.seen.roll.refused) refused.push_back({{"who", one.who}, {"why", one.why}});
  nlohmann::json late = nlohmann::json::object();
  for (const ShardLag& lag : cluster.lags) late[std::to_string(static_cast<int>(lag.shard))] = lag.late.count();
  const nlohmann::json all{{"source", cluster.seen.source},
                           {"age_ms", cluster.seen.age.count()},
                           {"members", members},
                           {"refused", refused},
                           {"late_ms", late}};
  fmt::print("{}\n", all.dump());
}

void run(const ClusterOptions& options) {
  const cluster::MembershipChoice membership = cluster::parse_membership(options.membership);
  if (!storage::stored_settings(options.store)) {  // opening would make tables
    throw std::invalid_argument("there is nothing of EasyRetry in this database yet; check the url");
  }
  const auto store = storage::open_store(options.store, system_clock());
  const Cluster cluster{must(cluster::look(membership, *store, options.space)), lags(*store, options.space)};
  options.as_json ? print_json(cluster) : print(cluster);
}

}  // namespace

void add_cluster_command(CLI::App& app) {
  auto* command = app.add_subcommand("cluster", "Shows the instances that share a store, and how late its shards are");
  auto options = std::make_shared<ClusterOptions>();
  command
      ->add_option("--store", options->store,
                   "postgres://, mysql:// or redis:// with the options that the instances have")
      ->required();
  command->add_option("--space", options->space, "The namespace of the instances")->capture_default_str();
  command->add_option("--membership", options->membership, "Where the instances meet: store, static:2/8, nacos://…")
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
