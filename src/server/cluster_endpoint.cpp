// /v1/cluster: the instances that share the shards, and how late the shards are.

#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/request_fields.h"
#include "storage/lag.h"

namespace easyretry::server {
namespace {

struct MemberAnswer {
  std::string_view node;
  std::optional<ShownTime> since;  // unknown for a static list of members
  std::string_view says;
  std::optional<std::vector<std::string>> handlers;
};
EASYRETRY_JSON(MemberAnswer, node, since, says, handlers)

struct RefusedAnswer {
  std::string_view who;
  std::string_view why;
};
EASYRETRY_JSON(RefusedAnswer, who, why)

struct ClusterAnswer {
  std::string_view source;
  bool trusted = false;
  std::string_view self;
  ShownTime now;
  Millis age_ms{};
  std::vector<MemberAnswer> members{};
  std::vector<RefusedAnswer> refused{};
  std::optional<std::map<std::string, Millis>> late_ms{};           // by shard
  std::optional<std::map<std::string, Millis>> late_handlers_ms{};  // by handler that is not paused
  std::optional<bool> late_handlers_complete{};
  std::optional<std::string> trouble{};  // if lateness is unknown because the store does not answer
};
EASYRETRY_JSON(ClusterAnswer, source, trusted, self, now, age_ms, members, refused, late_ms, late_handlers_ms,
               late_handlers_complete, trouble)

MemberAnswer shown_member(const Member& member) {
  const auto since = member.since == TimePoint{} ? std::nullopt : std::optional<ShownTime>{member.since};
  return {member.node, since, member.says, member.handlers};
}

std::map<std::string, Millis> lateness(const storage::Lag& lag) {
  std::map<std::string, Millis> late;
  for (const auto& [shard, by] : lag.shards) late.emplace(std::to_string(static_cast<int>(shard)), by);
  return late;
}

http::Response cluster(const Call& call, const LookAtCluster& look) {
  require_known(call.request, {});
  engine::Core& core = call.name_space->core();
  const ClusterSeen seen = look(*call.name_space);
  // The members are shown even if the store does not answer.
  const auto lag = storage::look_for_lag(core.store(), call.name_space->name(), 1);
  const auto late = storage::look_for_late_tasks(core.store(), call.name_space->name());
  const ClusterView& view = seen.view;
  ClusterAnswer answer{view.source, view.trusted, view.self, core.store_now(), view.age};
  for (const Member& member : view.members) answer.members.push_back(shown_member(member));
  for (const auto& [who, why] : seen.refused) answer.refused.push_back({who, why});
  if (lag) answer.late_ms = lateness(*lag);
  if (late) {
    answer.late_handlers_ms = late->handlers;
    answer.late_handlers_complete = late->complete;
  }
  if (!lag || !late) {
    answer.trouble = to_string(lag ? late.error() : lag.error());
  }
  return {.body = to_json(answer)};
}

}  // namespace

void add_cluster_endpoint(Api& api, LookAtCluster look) {
  api.add(http::Method::get, "/v1/cluster", Right::view,
          PlainEndpoint{[look = std::move(look)](const Call& call) { return cluster(call, look); }});
}

}  // namespace easyretry::server
