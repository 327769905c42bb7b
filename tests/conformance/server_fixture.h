#pragma once
// A store in a fresh database on the shared server of one kind.

#include <memory>
#include <string>
#include <utility>

#include "conformance/store_conformance.h"
#include "storage/sql/server_store.h"
#include "support/server_session.h"
#include "support/test_database.h"

namespace easyretry::test {

class ServerFixture final : public StoreFixture {
 public:
  using LayoutOf = storage::Layout (*)(int tables);

  ServerFixture(ServerKind kind, LayoutOf layout, const StoreSettings& settings)
      : kind_(kind), settings_(settings), layout_(layout(settings.total_shards % 2 == 0 ? 2 : 1)), database_(kind) {
    reopen();
  }
  storage::Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    store_ = storage::sql::open_server_store({.kind = "server",
                                              .url = database_.name(),
                                              .connect = [this] { return connect_session(kind_, database_.name()); },
                                              .history = settings_.history,
                                              .total_shards = settings_.total_shards,
                                              .layout = layout_,
                                              .window = std::chrono::days{2},
                                              .clock = &clock});
  }

 private:
  const ServerKind kind_;
  const StoreSettings settings_;
  const storage::Layout layout_;
  const TestDatabase database_;
  std::unique_ptr<storage::Store> store_;
};

// In one table, in several, and in several that come and go with time.
inline auto server_backends(const std::string& name, ServerKind kind) {
  using storage::Layout;
  const auto backend = [&](const std::string& layout_name, ServerFixture::LayoutOf layout) {
    return StoreBackend{.name = name + layout_name, .make = [kind, layout](const StoreSettings& settings) {
                          return std::make_unique<ServerFixture>(kind, layout, settings);
                        }};
  };
  return ::testing::Values(
      backend("", [](int) { return Layout::single(); }),
      backend("_hash", [](int tables) { return Layout::hash(tables); }),
      backend("_day", [](int tables) { return Layout::period(storage::PeriodLength::day, tables); }));
}

}  // namespace easyretry::test
