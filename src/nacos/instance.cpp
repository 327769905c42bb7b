#include "nacos/instance.h"

#include <charconv>
#include <map>
#include <optional>

namespace easyretry::nacos {
namespace {

constexpr const char* kNodeId = "nodeId";
constexpr const char* kEpoch = "epoch";
constexpr const char* kVersionKey = "version";

std::string metadata_at(const Instance& instance, const char* key) {
  const auto found = instance.metadata.find(key);
  return found != instance.metadata.end() ? found->second : std::string{};
}

}  // namespace

std::string to_string(const ServiceName& service) {
  return service.group + "@@" + service.name;
}

bool takes_traffic(const Instance& instance) {
  return instance.healthy && instance.enabled && instance.weight > 0;
}

Node node_of(const Instance& instance) {
  Node node{.id = metadata_at(instance, kNodeId), .version = metadata_at(instance, kVersionKey)};
  const std::string epoch = metadata_at(instance, kEpoch);
  std::from_chars(epoch.data(), epoch.data() + epoch.size(), node.epoch);  // 0 if another program wrote something else
  return node;
}

void describe(Instance& instance, const Node& node) {
  instance.metadata[kNodeId] = node.id;
  instance.metadata[kEpoch] = std::to_string(node.epoch);
  instance.metadata[kVersionKey] = node.version;
}

std::vector<Member> members_of(const ServiceView& view) {
  std::map<std::string, Member> newest;
  for (const Instance& instance : view.instances) {
    Node node = node_of(instance);
    if (!takes_traffic(instance) || node.id.empty()) continue;
    const auto [entry, is_new] = newest.try_emplace(node.id, Member{node, instance});
    if (!is_new && node.epoch > entry->second.node.epoch) entry->second = {std::move(node), instance};
  }
  std::vector<Member> members;
  members.reserve(newest.size());
  for (auto& [id, member] : newest) members.push_back(std::move(member));
  return members;
}

}  // namespace easyretry::nacos
