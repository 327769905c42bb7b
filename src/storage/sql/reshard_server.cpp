#include "storage/sql/reshard_server.h"

#include <algorithm>

#include "storage/sql/transactions.h"

namespace easyretry::storage::sql {
namespace {

std::optional<StoredSettings> settings_in(Session& session) {
  const std::vector<std::string> tables = session.schema().tables();
  if (std::find(tables.begin(), tables.end(), "retry_meta") == tables.end()) return std::nullopt;
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
