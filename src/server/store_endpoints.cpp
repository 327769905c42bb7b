// /v1/tables and /v1/split: the tables of the store; /v1/openapi.yaml.

#include "base/time_text.h"
#include "call/errors.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "task/task_id.h"

namespace easyretry::server {
namespace {

using call::value_or_throw;
using http::Method;

// Tables are shared by all namespaces. `role` is the least one that a token for all of them needs.
void require_all_namespaces(const Call& call, const std::string& role) {
  if (call.by.space == kAnyNamespace) return;
  throw Refusal{{403, "forbidden_namespace",
                 "tables are shared by all namespaces, and token " + call.by.name + " is for one of them",
                 "use a token for all namespaces: `easyretry token create NAME --role " + role + " --space '*'`"}};
}

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

http::Response list_tables(const Call& call) {
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

void number(JsonWriter& out, std::string_view name, std::int64_t value) {
  out.key(name);
  out.integer(value);
}

void text(JsonWriter& out, std::string_view name, const std::string& value) {
  out.key(name);
  out.string(value);
}

http::Response planned(int tables, const std::vector<storage::SplitMove>& moves) {
  JsonWriter out;
  out.begin_object();
  out.key("dry_run");
  out.boolean(true);
  out.key("moves");
  out.begin_array();
  for (const storage::SplitMove& move : moves) {
    out.begin_object();
    text(out, "from", move.from);
    text(out, "to", move.to);
    number(out, "tasks", move.rows);
    out.end_object();
  }
  out.end_array();
  number(out, "tables", tables);
  out.end_object();
  return {.body = out.take()};
}

http::Response split_shown(const TableSplit::Progress& progress, int status) {
  JsonWriter out;
  out.begin_object();
  number(out, "tables", progress.tables);
  text(out, "state", name_of(progress.state));
  number(out, "tables_to_fill", static_cast<std::int64_t>(progress.to_fill));
  number(out, "tables_begun", static_cast<std::int64_t>(progress.begun));
  number(out, "expected", progress.expected);
  number(out, "moved", progress.moved);
  if (!progress.error.empty()) text(out, "error", progress.error);
  text(out, "asked_at", base::to_text(progress.asked_at));
  if (progress.ended_at) text(out, "ended_at", base::to_text(*progress.ended_at));
  out.end_object();
  return {.status = status, .body = out.take()};
}

http::Response begin_split(const Call& call, TableSplit& split) {
  require_known(call.request, {});
  require_all_namespaces(call, "admin");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  fields.need("tables");
  const auto tables = static_cast<int>(fields.number("tables", 0, 1, task::kMaxShards));
  const bool dry_run = fields.flag("dry_run", false);
  fields.end();
  if (dry_run) return planned(tables, split.plan(tables));
  return split_shown(split.begin(tables), 202);
}

http::Response show_split(const Call& call, const TableSplit& split) {
  require_known(call.request, {});
  require_all_namespaces(call, "admin");
  if (const auto last = split.last()) return split_shown(*last, 200);
  throw Refusal{
      {404, "not_found", "no split has run on this instance since it started",
       "only the instance that runs a split knows it; an interrupted split continues when it is started again"}};
}

}  // namespace

void add_system_endpoints(Api& api) {
  api.add(Method::get, "/v1/tables", Right::view, PlainEndpoint{list_tables});
  api.add_open(Method::get, "/v1/openapi.yaml", [](const Call&) {
    return http::Response{.body = std::string{kOpenApi}, .content_type = "application/yaml"};
  });
}

void add_split_endpoints(Api& api, TableSplit& split) {
  api.add(Method::post, "/v1/split", Right::administer,
          PlainEndpoint{[&split](const Call& call) { return begin_split(call, split); }});
  api.add(Method::get, "/v1/split", Right::administer,
          PlainEndpoint{[&split](const Call& call) { return show_split(call, split); }});
}

}  // namespace easyretry::server
