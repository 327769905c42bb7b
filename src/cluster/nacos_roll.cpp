#include "cluster/nacos_roll.h"

#include <optional>

#include "nacos/members.h"
#include "storage/member_text.h"

namespace easyretry::cluster {
namespace {

constexpr const char* kSpace = "space";
constexpr const char* kTotalShards = "totalShards";
constexpr const char* kShards = "shards";
constexpr const char* kHandlers = "handlers";

std::string metadata_at(const nacos::Instance& instance, const char* key) {
  const auto found = instance.metadata.find(key);
  return found != instance.metadata.end() ? found->second : std::string{};
}

std::optional<std::string> objection(const nacos::Instance& instance, const Company& company) {
  constexpr const char* kRemedy = "; give each application its own service name";
  const std::string shards = metadata_at(instance, kTotalShards);
  if (nacos::node_of(instance).id.empty() || shards.empty()) {
    return "it is not an EasyRetry instance, or its metadata is missing" + std::string{kRemedy};
  }
  if (const std::string space = metadata_at(instance, kSpace); space != company.space) {
    return "its namespace is \"" + space + "\", but that of this instance is \"" + company.space + "\"" + kRemedy;
  }
  if (shards != std::to_string(company.total_shards)) {
    return "its store has " + shards + " shards, but that of this instance has " +
           std::to_string(company.total_shards) + kRemedy;
  }
  return std::nullopt;
}

std::string name_of(const nacos::Instance& instance) {
  const std::string address = instance.ip + ":" + std::to_string(instance.port);
  const std::string node = nacos::node_of(instance).id;
  return node.empty() ? address : node + " at " + address;
}

std::size_t length_of(const std::map<std::string, std::string>& metadata) {
  std::size_t length = 0;
  for (const auto& [key, value] : metadata) length += key.size() + value.size();
  return length;
}

}  // namespace

bool introduce(nacos::Instance& instance, const Company& company, const Myself& myself) {
  nacos::describe(instance,
                  {.id = myself.node, .epoch = myself.since.time_since_epoch().count(), .version = EASYRETRY_VERSION});
  instance.metadata[kSpace] = company.space;
  instance.metadata[kTotalShards] = std::to_string(company.total_shards);
  instance.metadata[kShards] = myself.says;
  if (!myself.handlers) return true;
  std::string handlers = storage::handlers_text(*myself.handlers);
  if (length_of(instance.metadata) + std::string_view{kHandlers}.size() + handlers.size() > kMostMetadata) return false;
  instance.metadata[kHandlers] = std::move(handlers);
  return true;
}

Roll call_roll(const nacos::ServiceView& view, const Company& company) {
  Roll roll;
  nacos::ServiceView ours{.service = view.service};
  for (const nacos::Instance& instance : view.instances) {
    if (!nacos::takes_traffic(instance)) continue;
    if (auto why = objection(instance, company)) {
      roll.refused.push_back({name_of(instance), *std::move(why)});
    } else {
      ours.instances.push_back(instance);
    }
  }
  for (const nacos::Member& member : nacos::members_of(ours)) {
    roll.members.push_back({.node = member.node.id,
                            .since = TimePoint{Millis{member.node.epoch}},
                            .says = metadata_at(member.instance, kShards),
                            .handlers = storage::read_handlers_text(metadata_at(member.instance, kHandlers))});
  }
  return roll;
}

}  // namespace easyretry::cluster
