#pragma once
// A store in a fresh database on the shared server of one kind.

#include <memory>
#include <string>
#include <utility>

#include "conformance/store_conformance.h"
#include "storage/sql/server_store.h"
#include "support/test_database.h"

namespace easyretry::test {

class ServerFixture final : public StoreFixture {
 public:
  using Connect = std::unique_ptr<storage::sql::Session> (*)(const std::string& database);
  using LayoutOf = storage::Layout (*)(int tables);

  ServerFixture(ServerKind kind, Connect connect, LayoutOf layout, const StoreSettings& settings)
      : settings_(settings),
        connect_(connect),
        layout_(layout(settings.total_shards % 2 == 0 ? 2 : 1)),
        database_(kind) {
    reopen();
  }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    store_ = storage::sql::open_server_store({.kind = "server",
                                              .url = database_.name(),
                                              .connect = [this] { return connect_(database_.name()); },
                                              .history = settings_.history,
                                              .total_shards = settings_.total_shards,
                                              .layout = layout_,
                                              .clock = &clock});
  }

 private:
  const StoreSettings settings_;
  const Connect connect_;
  const storage::Layout layout_;
  const TestDatabase database_;
  std::unique_ptr<storage::Store> store_;
};

// In one table, in several, and in several that come and go with time.
inline auto server_backends(const std::string& name, ServerKind kind, ServerFixture::Connect connect) {
  using storage::Layout;
  const auto backend = [&](const std::string& layout_name, ServerFixture::LayoutOf layout) {
    return StoreBackend{.name = name + layout_name, .make = [kind, connect, layout](const StoreSettings& settings) {
                          return std::make_unique<ServerFixture>(kind, connect, layout, settings);
                        }};
  };
  return ::testing::Values(
      backend("", [](int) { return Layout::single(); }),
      backend("_hash", [](int tables) { return Layout::hash(tables); }),
      backend("_day", [](int tables) { return Layout::period(storage::PeriodLength::day, tables); }));
}

}  // namespace easyretry::test
