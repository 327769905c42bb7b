#include "storage/sql/maintenance.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "storage/sql/transactions.h"

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

// Another process may have run the same migration in between: a statement fails then, and there is nothing left to do.
void run_migration(Schema& schema, int version) {
  const std::string what = "schema version " + std::to_string(version);
  try {
    for (const std::string& statement : schema.migration(version)) schema.define(what, statement);
  } catch (const ServerError& error) {
    const bool lost = error.trouble() == Trouble::gone || error.trouble() == Trouble::silent;
    if (lost || version == 1 || !schema.migration(version).empty()) throw;
  }
}

std::optional<StoredSettings> settings_in(Session& session) {
  if (std::ranges::count(session.schema().tables(), "retry_meta") == 0) return std::nullopt;
  const auto shards = session.schema().meta("total_shards");
  const auto layout = session.schema().meta("layout");
  if (!shards || !layout) return std::nullopt;
  return StoredSettings{*shards, *layout};
}

class ServerRows final : public ShardedRows {
 public:
  ServerRows(const ServerOptions& options, std::string where)
      : options_(options), where_(std::move(where)), pool_(options.connect, 1), transactions_(pool_) {}

  StoredSettings settings() override {
    const auto settings = settings_in(*pool_.take());
    if (!settings) throw nothing_there(where_, options_.url);
    return *settings;
  }

  std::vector<std::string> tables() override {
    const Layout layout = parse_layout(settings().layout);
    const TableRouter router{layout, layout.tables()};
    std::vector<std::string> names = pool_.take()->schema().tables();
    std::erase_if(names, [&](const std::string& name) { return !router.parse(name); });
    return names;
  }

  ShardPage look(const ShardPageQuery& query) override {
    const auto session = pool_.take();
    return session->schema().shard_page(query, now(session->now()));
  }

  std::optional<ShardPage> renumber(const ShardPageQuery& query, const ShardCount& expected) override {
    using Page = std::optional<ShardPage>;
    auto page =
        transactions_.run(where_, Promise::kept, Locks::waited_for, [&](Session& session, TimePoint server) -> Page {
          session.schema().hold_layout();  // and with it the count
          if (session.schema().meta("total_shards") != storage::to_text(expected)) return std::nullopt;
          ShardPage found = session.schema().shard_page(query, now(server));
          if (found.misnumbered > 0) session.schema().renumber(query, found.last);
          return found;
        });
    if (!page) throw StoreError{page.error()};
    return *std::move(page);
  }

  bool remember(int shards) override {
    const auto session = pool_.take();
    const std::string there = session->schema().agree("earlier_shards", std::to_string(shards));
    const std::string more = add_earlier_shards(there, shards);
    return more == there || session->schema().change_meta("earlier_shards", there, more);
  }

  bool change(const ShardCount& from, const ShardCount& to) override {
    return pool_.take()->schema().change_meta("total_shards", storage::to_text(from), storage::to_text(to));
  }

 private:
  TimePoint now(TimePoint server) const { return options_.clock != nullptr ? options_.clock->now() : server; }

  const ServerOptions& options_;
  const std::string where_;
  Pool pool_;
  Transactions transactions_;
};

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
  const std::string remedy = there < needed ? "run `easyretry migrate --store '" + options.url +
                                                  "'`; older instances may keep running meanwhile"
                                            : "a newer release has migrated it; install that release here, too";
  throw StoreError{{Errc::invalid_argument, options.kind + ".open", versions + remedy}};
}

// While an empty database is being migrated, it has no version: with one, it would look like an old database.
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

ReshardPlan reshard_server(const ServerOptions& options, const ReshardRequest& request) {
  const std::string where = options.kind + ".reshard";
  try {
    ServerRows rows{options, where};
    return reshard(rows, where, request);
  } catch (const ServerError& error) {
    throw StoreError{to_error(error, where, Point::before_commit)};
  }
}

std::optional<StoredSettings> server_settings(const ServerOptions& options) {
  try {
    return settings_in(*options.connect());
  } catch (const ServerError& error) {
    throw StoreError{to_error(error, options.kind + ".open", Point::before_commit)};
  }
}

}  // namespace easyretry::storage::sql
