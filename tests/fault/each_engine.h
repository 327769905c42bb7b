#pragma once
// Tests of engines on every store that outlives a process, and of engines on a daemon.

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <easyretry/easyretry.h>

#include "support/temp_folder.h"
#include "support/test_daemon.h"
#include "support/test_database.h"

namespace easyretry::fault {

struct EngineKind {
  std::optional<test::ServerKind> server;  // nullopt: SQLite
  bool daemon = false;                     // engines use a daemon on this store
};

class OnEachEngine : public ::testing::TestWithParam<EngineKind> {
 protected:
  OnEachEngine() {
    if (GetParam().server) database_.emplace(*GetParam().server);
    if (GetParam().daemon) daemon_.emplace(store_url());
  }

  std::unique_ptr<Engine> open(const EngineOptions& options = {.log = nullptr}) const {
    if (daemon_) return std::make_unique<RemoteEngine>(daemon_->url, daemon_->options(options));
    return std::make_unique<Engine>(store_url(), options);
  }

  // count() is not offered by a daemon.
  static bool none_left(const Engine& engine, const std::string& handler = {}) {
    return engine.list({.handler = handler, .limit = 1}).empty();
  }
  static std::size_t succeeded(const Engine& engine, const std::string& handler) {
    return engine.list({.finished = true, .handler = handler, .outcome = Outcome::succeeded, .limit = 1000}).size();
  }

 private:
  std::string store_url() const { return database_ ? database_->url() : folder_.sqlite_url(); }

  const test::TempFolder folder_;
  std::optional<test::TestDatabase> database_;
  std::optional<test::TestDaemon> daemon_;
};

inline std::string name_of(const EngineKind& place) {
  const std::string store = place.server ? test::name_of(*place.server) : "sqlite";
  return place.daemon ? "daemon_on_" + store : store;
}
inline std::string place_name(const ::testing::TestParamInfo<EngineKind>& info) {
  return name_of(info.param);
}
inline void PrintTo(const EngineKind& place, std::ostream* out) {  // for gtest
  *out << name_of(place);
}

// The name before the slash says which server ctest starts.
#define ON_EACH_SERVER_AND_DAEMON(suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Daemon, suite, ::testing::Values(EngineKind{std::nullopt, true}), place_name);         \
  INSTANTIATE_TEST_SUITE_P(                                                                                       \
      Postgres, suite,                                                                                            \
      ::testing::Values(EngineKind{test::ServerKind::postgres}, EngineKind{test::ServerKind::postgres, true}),    \
      place_name);                                                                                                \
  INSTANTIATE_TEST_SUITE_P(Mariadb, suite, ::testing::Values(EngineKind{test::ServerKind::mariadb}), place_name); \
  INSTANTIATE_TEST_SUITE_P(Redis, suite, ::testing::Values(EngineKind{test::ServerKind::redis}), place_name)
#define ON_EACH_STORE_AND_DAEMON(suite) \
  ON_EACH_SERVER_AND_DAEMON(suite);     \
  INSTANTIATE_TEST_SUITE_P(Sqlite, suite, ::testing::Values(EngineKind{std::nullopt}), place_name)

}  // namespace easyretry::fault
