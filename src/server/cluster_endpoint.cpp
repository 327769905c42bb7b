// /v1/cluster: the instances that share the shards, and how late the shards are.

#include "base/time_text.h"
#include "server/endpoints.h"
#include "server/request_fields.h"
#include "server/task_json.h"
#include "storage/lag.h"

namespace easyretry::server {
namespace {

void write_member(JsonWriter& out, const Member& member) {
  out.begin_object();
  out.key("node");
  out.string(member.node);
  if (member.since != TimePoint{}) {  // unknown for a static list of members
    out.key("since");
    out.string(base::to_text(member.since));
  }
  out.key("says");
  out.string(member.says);
  if (member.handlers) {
    out.key("handlers");
    out.begin_array();
    for (const std::string& handler : *member.handlers) out.string(handler);
    out.end_array();
  }
  out.end_object();
}

void write_refused(JsonWriter& out, const cluster::Refused& refused) {
  out.begin_object();
  out.key("who");
  out.string(refused.who);
  out.key("why");
  out.string(refused.why);
  out.end_object();
}

template <class T>
void write_list(JsonWriter& out, std::string_view name, const std::vector<T>& all,
                void (*write)(JsonWriter&, const T&)) {
  out.key(name);
  out.begin_array();
  for (const T& one : all) write(out, one);
  out.end_array();
}

void write_lateness(JsonWriter& out, const storage::Lag& lag) {
  out.key("late_ms");
  out.begin_object();
  for (const auto& [shard, late] : lag.shards) {
    out.key(std::to_string(static_cast<int>(shard)));
    out.integer(late.count());
  }
  out.end_object();
}

http::Response cluster(const Call& call, const LookAtCluster& look) {
  require_known(call.request, {});
  engine::Core& core = call.space->core();
  const ClusterSeen seen = look(*call.space);
  // The members are shown even if the store does not answer.
  const auto lag = storage::look_for_lag(core.store(), call.space->name(), 1);
  JsonWriter out;
  out.begin_object();
  out.key("source");
  out.string(seen.view.source);
  out.key("trusted");
  out.boolean(seen.view.trusted);
  out.key("self");
  out.string(seen.view.self);
  out.key("now");
  out.string(base::to_text(core.store_now()));
  out.key("age_ms");
  out.integer(seen.view.age.count());
  write_list(out, "members", seen.view.members, write_member);
  write_list(out, "refused", seen.refused, write_refused);
  if (lag) {
    write_lateness(out, *lag);
  } else {
    out.key("trouble");
    out.string(to_string(lag.error()));
  }
  out.end_object();
  return {.body = out.take()};
}

}  // namespace

void add_cluster_endpoint(Api& api, LookAtCluster look) {
  api.add(http::Method::get, "/v1/cluster", Right::view,
          PlainEndpoint{[look = std::move(look)](const Call& call) { return cluster(call, look); }});
}

}  // namespace easyretry::server
