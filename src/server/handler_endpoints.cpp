// /v1/handlers.

#include <map>

#include "base/time_text.h"
#include "call/errors.h"
#include "server/endpoints.h"
#include "server/request_fields.h"
#include "server/task_json.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;
using Paused = std::map<std::string, PausedHandler>;

Paused paused_in(Space& space) {
  Paused paused;
  for (PausedHandler& one : value_or_throw(space.core().paused()).handlers) {
    std::string name = one.handler;
    paused.emplace(std::move(name), std::move(one));
  }
  return paused;
}

bool is_served(Space& space, const std::string& name) {
  return space.core().handlers().snapshot()->by_name.contains(name);
}

void write_pause(JsonWriter& out, const Paused& paused, const std::string& name) {
  const auto found = paused.find(name);
  if (found == paused.end()) return;
  out.key("paused");
  out.begin_object();
  out.key("since");
  out.string(base::to_text(found->second.since));
  out.key("why");
  out.string(found->second.why);
  out.end_object();
}

void write_counts(JsonWriter& out, const HandlerCounts& counts) {
  out.key("live");
  out.integer(counts.live());
  out.key("stored");
  out.integer(counts.total.stored);
  out.key("ended");
  out.begin_object();
  for (const auto& [outcome, number] : counts.total.ended) {
    out.key(name_of(outcome));
    out.integer(number);
  }
  out.end_object();
}

void write_identity(JsonWriter& out, const std::string& name, bool served) {
  out.key("name");
  out.string(name);
  out.key("served");
  out.boolean(served);
}

// Handlers that have tasks, are known here or are paused.
http::Response list(const Call& call) {
  require_known(call.request, {});
  Counts counts = value_or_throw(call.space->core().counts());
  const Paused paused = paused_in(*call.space);
  const auto table = call.space->core().handlers().snapshot();
  for (const auto& [name, number] : table->by_name) counts.try_emplace(name);
  for (const auto& [name, since] : paused) counts.try_emplace(name);
  JsonWriter out;
  out.begin_object();
  out.key("handlers");
  out.begin_array();
  for (const auto& [name, tally] : counts) {
    out.begin_object();
    write_identity(out, name, table->by_name.contains(name));
    write_counts(out, tally);
    write_pause(out, paused, name);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {.body = out.take()};
}

// The handler may be one of other instances; `served` says whether it is known here.
http::Response changed(const Call& call, bool it_changed) {
  const std::string& name = call.request.parameters.at("name");
  JsonWriter out;
  out.begin_object();
  write_identity(out, name, is_served(*call.space, name));
  out.key("changed");
  out.boolean(it_changed);
  write_pause(out, paused_in(*call.space), name);
  out.end_object();
  return {.body = out.take()};
}

http::Response pause(const Call& call) {
  require_known(call.request, {});
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  const std::string why{fields.need("why").as_string()};
  fields.end();
  return changed(call, value_or_throw(call.space->core().pause(call.request.parameters.at("name"), why)));
}

http::Response resume(const Call& call) {
  require_known(call.request, {});
  return changed(call, value_or_throw(call.space->core().resume(call.request.parameters.at("name"))));
}

}  // namespace

void add_handler_endpoints(Api& api) {
  api.add(Method::get, "/v1/handlers", Right::view, PlainEndpoint{list});
  api.add(Method::post, "/v1/handlers/{name}/pause", Right::operate, PlainEndpoint{pause});
  api.add(Method::post, "/v1/handlers/{name}/resume", Right::operate, PlainEndpoint{resume});
}

}  // namespace easyretry::server
