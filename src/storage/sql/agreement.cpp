#include "storage/sql/agreement.h"

#include "storage/shard_count.h"

namespace easyretry::storage::sql {
namespace {

std::string differs(const std::string& option, const std::string& there, const std::string& mine) {
  return "the database was created with " + option + "=" + there + ", but this instance is configured with " + option +
         "=" + mine + "; set " + option + "=" + there + " in its url";
}

std::string split_hint(const Layout& there, const Layout& mine) {
  const bool both = there.kind() == Layout::Kind::hash && mine.kind() == Layout::Kind::hash;
  if (!both || mine.tables() % there.tables() != 0) return {};
  return ", or run `easyretry split --store … --to " + std::to_string(mine.tables()) + "`";
}

class Agreement {
 public:
  Agreement(Session& session, const ServerOptions& options) : session_(session), options_(options) {}

  void on_shards() {
    const std::string there = session_.schema().agree("total_shards", std::to_string(options_.total_shards));
    if (const auto why = shard_refusal(parse_shard_count(there), options_.total_shards)) refuse(*why);
  }

  // While tables are being split, an instance may have the layout before or the one after.
  void on_layout(Tables& tables) {
    const std::string mine = storage::to_text(options_.layout);
    const std::string there = session_.schema().agree("layout", mine);
    const Placement placement = parse_placement(there, options_.total_shards, options_.window);
    const bool before = placement.before && placement.before->layout() == options_.layout;
    const Layout& layout = placement.router.layout();
    if (!before && layout != options_.layout) {
      refuse(differs("layout", storage::to_text(layout), mine) + split_hint(layout, options_.layout));
    }
    tables.learn(there);
  }

  void on_table_days() {
    const std::string mine = std::to_string(options_.window / std::chrono::days{1});
    const std::string there = session_.schema().agree("table_days", mine);
    if (there != mine) refuse(differs("table_days", there, mine));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw StoreError{{Errc::invalid_argument, options_.kind + ".open", why}};
  }

  Session& session_;
  const ServerOptions& options_;
};

}  // namespace

void agree(Session& session, const ServerOptions& options, Tables& tables) {
  Agreement agreement{session, options};
  agreement.on_shards();
  agreement.on_layout(tables);
  if (options.layout.kind() == Layout::Kind::period) agreement.on_table_days();
}

}  // namespace easyretry::storage::sql
