// /v1/tables and /v1/split: the tables of the store; /v1/openapi.yaml.

#include "call/errors.h"
#include "server/answer_values.h"
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
  if (call.by.name_space == kAnyNamespace) return;
  throw Refusal{{403, "forbidden_namespace",
                 "tables are shared by all namespaces, and token " + call.by.name + " is for one of them",
                 "use a token for all namespaces: `easyretry token create NAME --role " + role + " --namespace '*'`"}};
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

struct TableAnswer {
  std::string_view name;
  std::string state;
  std::optional<ShownTime> begins;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
};
EASYRETRY_JSON(TableAnswer, name, state, begins, rows, bytes)

struct TablesAnswer {
  std::vector<TableAnswer> tables{};
};
EASYRETRY_JSON(TablesAnswer, tables)

http::Response list_tables(const Call& call) {
  require_known(call.request, {});
  require_all_namespaces(call, "viewer");
  const auto tables = value_or_throw(call.name_space->core().store().tables());
  TablesAnswer answer;
  for (const storage::TableInfo& table : tables) {
    answer.tables.push_back({table.name, name_of(table.state), table.begins, table.rows, table.bytes});
  }
  return {.body = to_json(answer)};
}

struct MoveAnswer {
  std::string_view from;
  std::string_view to;
  std::int64_t tasks = 0;
};
EASYRETRY_JSON(MoveAnswer, from, to, tasks)

struct SplitPlan {
  bool dry_run = true;
  int tables = 0;
  std::vector<MoveAnswer> moves{};
};
EASYRETRY_JSON(SplitPlan, dry_run, tables, moves)

http::Response planned_split(int tables, const std::vector<storage::SplitMove>& moves) {
  SplitPlan plan{.tables = tables};
  for (const storage::SplitMove& move : moves) plan.moves.push_back({move.from, move.to, move.rows});
  return {.body = to_json(plan)};
}

struct SplitAnswer {
  int tables = 0;
  std::string state;
  std::size_t tables_to_fill = 0;
  std::size_t tables_begun = 0;
  std::int64_t expected = 0;
  std::int64_t moved = 0;
  std::optional<ShownText> error;
  ShownTime asked_at;
  std::optional<ShownTime> ended_at;
};
EASYRETRY_JSON(SplitAnswer, tables, state, tables_to_fill, tables_begun, expected, moved, error, asked_at, ended_at)

http::Response split_shown(const TableSplit::Progress& progress, int status) {
  const SplitAnswer answer{.tables = progress.tables,
                           .state = name_of(progress.state),
                           .tables_to_fill = progress.to_fill,
                           .tables_begun = progress.begun,
                           .expected = progress.expected,
                           .moved = progress.moved,
                           .error = if_any(progress.error),
                           .asked_at = progress.asked_at,
                           .ended_at = progress.ended_at};
  return {.status = status, .body = to_json(answer)};
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
  if (dry_run) return planned_split(tables, split.plan(tables));
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
  api.add_open(Method::get, "/v1/openapi.yaml", [](const Call& call) {
    require_known(call.request, {});
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
