#include "cluster/nacos/nacos_metadata.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include <easyretry/version.h>

#include "nacos/instance.h"
#include "storage/member_text.h"

namespace easyretry::cluster {
namespace {

constexpr const char* kNamespace = "space";
constexpr const char* kTotalShards = "totalShards";
constexpr const char* kShards = "shards";
constexpr const char* kHandlers = "handlers";

std::string metadata_at(const nacos::Instance& instance, const char* key) {
  const auto found = instance.metadata.find(key);
  return found != instance.metadata.end() ? found->second : std::string{};
}

std::optional<std::string> reason_to_refuse(const nacos::Instance& instance, const SharedSettings& settings) {
  constexpr const char* kRemedy = "; give each application its own service name";
  const std::string shards = metadata_at(instance, kTotalShards);
  if (nacos::node_of(instance).id.empty() || shards.empty()) {
    return "it is not an EasyRetry instance, or its metadata is missing" + std::string{kRemedy};
  }
  if (const std::string name_space = metadata_at(instance, kNamespace); name_space != settings.name_space) {
    return "its namespace is \"" + name_space + "\", but that of this instance is \"" + settings.name_space + "\"" +
           kRemedy;
  }
  if (shards != std::to_string(settings.total_shards)) {
    return "its store has " + shards + " shards, but that of this instance has " +
           std::to_string(settings.total_shards) + kRemedy;
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

bool write_metadata(nacos::Instance& instance, const SharedSettings& settings, const InstanceInfo& self) {
  nacos::describe(instance,
                  {.id = self.node, .epoch = self.since.time_since_epoch().count(), .version = EASYRETRY_VERSION});
  instance.metadata[kNamespace] = settings.name_space;
  instance.metadata[kTotalShards] = std::to_string(settings.total_shards);
  instance.metadata[kShards] = self.says;
  if (!self.handlers) return true;
  std::string handlers = storage::handlers_text(*self.handlers);
  if (length_of(instance.metadata) + std::string_view{kHandlers}.size() + handlers.size() > kMostMetadata) return false;
  instance.metadata[kHandlers] = std::move(handlers);
  return true;
}

MemberList read_members(const nacos::ServiceView& view, const SharedSettings& settings) {
  MemberList list;
  nacos::ServiceView ours{.service = view.service};
  for (const nacos::Instance& instance : view.instances) {
    if (!nacos::takes_traffic(instance)) continue;
    if (auto why = reason_to_refuse(instance, settings)) {
      list.refused.push_back({name_of(instance), *std::move(why)});
    } else {
      ours.instances.push_back(instance);
    }
  }
  for (const nacos::Member& member : nacos::members_of(ours)) {
    list.members.push_back({.node = member.node.id,
                            .since = TimePoint{Millis{member.node.epoch}},
                            .says = metadata_at(member.instance, kShards),
                            .handlers = storage::read_handlers_text(metadata_at(member.instance, kHandlers))});
  }
  return list;
}

std::vector<Member> RejoinGrace::list(std::vector<Member> reported, std::uint64_t connection, Instant now) {
  if (connection != connection_) {
    connection_ = connection;
    until_ = now + grace_;
    before_ = last_;
  }
  if (now < until_) {
    const auto is_there = [&](const Member& member) {
      return std::any_of(reported.begin(), reported.end(), [&](const Member& one) { return one.node == member.node; });
    };
    std::vector<Member> missing;
    std::copy_if(before_.begin(), before_.end(), std::back_inserter(missing), std::not_fn(is_there));
    reported.insert(reported.end(), missing.begin(), missing.end());
  }
  last_ = reported;
  return reported;
}

}  // namespace easyretry::cluster
