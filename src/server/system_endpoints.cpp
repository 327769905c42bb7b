// /v1/tables, /v1/openapi.yaml.

#include "base/time_text.h"
#include "call/errors.h"
#include "server/endpoints.h"
#include "server/openapi.h"
#include "server/query.h"
#include "server/whole_store.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

std::string name_of(storage::TableInfo::State state) {
  switch (state) {
    case storage::TableInfo::State::in_use: return "in_use";
    case storage::TableInfo::State::ahead: return "ahead";
    case storage::TableInfo::State::leaving: return "leaving";
    case storage::TableInfo::State::history: return "history";
    case storage::TableInfo::State::other: return "other";
  }
  return "other";
}

// All namespaces share them.
http::Response tables(const Call& call) {
  require_known(call.request, {});
  require_all_namespaces(call, "viewer");
  JsonWriter out;
  out.begin_object();
  out.key("tables");
  out.begin_array();
  for (const storage::TableInfo& table : value_or_throw(call.space->core().store().tables())) {
    out.begin_object();
    out.key("name");
    out.string(table.name);
    out.key("state");
    out.string(name_of(table.state));
    if (table.begins) {
      out.key("begins");
      out.string(base::to_text(*table.begins));
    }
    out.key("rows");
    out.integer(table.rows);
    out.key("bytes");
    out.integer(table.bytes);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {.body = out.take()};
}

}  // namespace

void add_system_endpoints(Api& api) {
  api.add(Method::get, "/v1/tables", Right::view, PlainEndpoint{tables});
  api.add_open(Method::get, "/v1/openapi.yaml", [](const Call&) {
    return http::Response{.body = std::string{kOpenApi}, .content_type = "application/yaml"};
  });
}

}  // namespace easyretry::server
