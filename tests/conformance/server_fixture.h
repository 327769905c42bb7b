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

  ServerFixture(ServerKind kind, Connect connect, const StoreSettings& settings)
      : settings_(settings), connect_(connect), database_(kind) {
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
                                              .clock = &clock});
  }

 private:
  const StoreSettings settings_;
  const Connect connect_;
  const TestDatabase database_;
  std::unique_ptr<storage::Store> store_;
};

inline StoreBackend server_backend(std::string name, ServerKind kind, ServerFixture::Connect connect) {
  return {.name = std::move(name), .make = [kind, connect](const StoreSettings& settings) {
            return std::make_unique<ServerFixture>(kind, connect, settings);
          }};
}

}  // namespace easyretry::test
