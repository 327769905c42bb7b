// /v1/split: more tables for the store.

#include "base/time_text.h"
#include "server/endpoints.h"
#include "server/fields.h"
#include "server/query.h"
#include "server/refusal.h"
#include "server/whole_store.h"
#include "task/task_id.h"

namespace easyretry::server {
namespace {

using http::Method;

void number(JsonWriter& out, std::string_view name, std::int64_t value) {
  out.key(name);
  out.integer(value);
}

void text(JsonWriter& out, std::string_view name, const std::string& value) {
  out.key(name);
  out.string(value);
}

http::Response foreseen(int tables, const std::vector<storage::SplitMove>& moves) {
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

http::Response shown(const TableSplit::Progress& progress, int status) {
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

http::Response begin(const Call& call, TableSplit& split) {
  require_known(call.request, {});
  require_all_namespaces(call, "admin");
  const JsonDocument body = JsonDocument::parse(call.request.body);
  Fields fields{body.root()};
  fields.need("tables");
  const auto tables = static_cast<int>(fields.number("tables", 0, 1, task::kMaxShards));
  const bool dry_run = fields.flag("dry_run", false);
  fields.end();
  if (dry_run) return foreseen(tables, split.plan(tables));
  return shown(split.begin(tables), 202);
}

http::Response show(const Call& call, const TableSplit& split) {
  require_known(call.request, {});
  require_all_namespaces(call, "admin");
  if (const auto last = split.last()) return shown(*last, 200);
  throw Refusal{
      {404, "not_found", "no split has run on this instance since it started",
       "only the instance that runs a split knows it; an interrupted split continues when it is started again"}};
}

}  // namespace

void add_split_endpoints(Api& api, TableSplit& split) {
  api.add(Method::post, "/v1/split", Right::administer,
          PlainEndpoint{[&split](const Call& call) { return begin(call, split); }});
  api.add(Method::get, "/v1/split", Right::administer,
          PlainEndpoint{[&split](const Call& call) { return show(call, split); }});
}

}  // namespace easyretry::server
