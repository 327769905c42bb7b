#pragma once
// Tests of every kind of database server. A kind is added with a line in ON_EACH_SERVER, its fixture in
// tests/CMakeLists.txt, and what it needs below.

#include <string>

#include <gtest/gtest.h>

#include "support/database_server.h"

namespace easyretry::fault {

using test::ServerKind;

class OnEachServer : public ::testing::TestWithParam<ServerKind> {};

inline std::string kind_name(const ::testing::TestParamInfo<ServerKind>& info) {
  return test::name_of(info.param);
}

// The name before the slash says which server ctest starts; `Own` are those that a test starts for itself, to be
// killed.
#define ON_EACH_SERVER(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(Postgres, suite, ::testing::Values(ServerKind::postgres), kind_name); \
  INSTANTIATE_TEST_SUITE_P(Mariadb, suite, ::testing::Values(ServerKind::mariadb), kind_name)
#define ON_EACH_OWN_SERVER(suite) \
  INSTANTIATE_TEST_SUITE_P(Own, suite, ::testing::Values(ServerKind::postgres, ServerKind::mariadb), kind_name)

// Tests that Redis passes as well: it has no SQL, no transactions and no tables.
#define ON_REDIS(suite) INSTANTIATE_TEST_SUITE_P(Redis, suite, ::testing::Values(ServerKind::redis), kind_name)
#define ON_OWN_REDIS(suite) INSTANTIATE_TEST_SUITE_P(OwnRedis, suite, ::testing::Values(ServerKind::redis), kind_name)

// Without TLS, so that a proxy sees what is said.
inline std::string in_the_clear(ServerKind kind, const std::string& url) {
  return kind == ServerKind::postgres ? url + "?sslmode=disable" : url;
}

// The request that commits, and no other. "READ COMMITTED" is part of others.
inline std::string commit_request(ServerKind kind) {
  using namespace std::string_literals;
  switch (kind) {
    case ServerKind::postgres: return "COMMIT\0"s;
    case ServerKind::mariadb: return "COMMIT WORK"s;
    case ServerKind::redis:
    case ServerKind::redis_cluster: break;
  }
  return "EVALSHA"s;  // each is whole
}

}  // namespace easyretry::fault
