#include "storage/sql/migration.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "storage/server/server_error.h"

namespace easyretry::storage::sql {
namespace {

constexpr const char* kVersion = "schema_version";

int parse_version(const std::string& text) {
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || end != text.data() + text.size() || version < 1) {
    throw ServerError{Trouble::refused, "schema_version in retry_meta is corrupted: '" + text + "'"};
  }
  return version;
}

void note_version(Schema& schema, int version) {
  const std::string wanted = std::to_string(version);
  for (std::string there = schema.agree(kVersion, wanted); parse_version(there) < version;) {
    if (schema.change_meta(kVersion, there, wanted)) return;
    there = schema.meta(kVersion).value_or(wanted);
  }
}

// Another process may have done the same in between: a statement fails then, and there is nothing left to do.
void run_migration(Schema& schema, int version) {
  const std::string what = "schema version " + std::to_string(version);
  try {
    for (const std::string& statement : schema.migration(version)) schema.define(what, statement);
  } catch (const ServerError& error) {
    const bool lost = error.trouble() == Trouble::gone || error.trouble() == Trouble::silent;
    if (lost || version == 1 || !schema.migration(version).empty()) throw;
  }
}

}  // namespace

// An instance that is creating the schema writes total_shards after the version. So the version is read last: otherwise
// both could be written between the two reads, and a new database would look like an old one.
int schema_version(Schema& schema) {
  if (std::ranges::count(schema.tables(), "retry_meta") == 0) return 0;
  const bool created = schema.meta("total_shards").has_value();
  if (const auto version = schema.meta(kVersion)) return parse_version(*version);
  return created ? 1 : 0;
}

void check_schema(Schema& schema, const ServerOptions& options) {
  const int there = schema_version(schema);
  const int needed = schema.version();
  if (there == needed) return;
  if (there == 0) return migrate(schema, needed);
  const std::string versions = "the database has schema version " + std::to_string(there) +
                               ", and this release needs version " + std::to_string(needed) + ": ";
  const std::string remedy =
      there < needed ? "run `easyretry migrate --store '" + options.url + "'`; older instances may work on meanwhile"
                     : "a newer release has migrated it; install that release here, too";
  throw StoreError{{Errc::invalid_argument, options.kind + ".open", versions + remedy}};
}

// An empty database has no version on the way: another instance that opens it meanwhile would take it for an old one.
void migrate(Schema& schema, int version) {
  const int from = schema_version(schema);
  for (int next = from + 1; next <= version; ++next) {
    run_migration(schema, next);
    if (from > 0 || next == version) note_version(schema, next);
  }
}

MigrationPlan migrate_server(const ServerOptions& options, const MigrateRequest& request) {
  try {
    const auto session = options.connect();
    Schema& schema = session->schema();
    MigrationPlan plan{.from = schema_version(schema)};
    if (!request.to && plan.from > schema.version()) check_schema(schema, options);
    plan.to = target_version(request, plan.from, schema.version());
    for (int next = plan.from + 1; next <= plan.to; ++next) {
      std::ranges::move(schema.migration(next), std::back_inserter(plan.statements));
    }
    if (!request.only_plan) migrate(schema, plan.to);
    return plan;
  } catch (const ServerError& error) {
    throw StoreError{to_error(error, options.kind + ".migrate", Point::before_commit)};
  }
}

}  // namespace easyretry::storage::sql
