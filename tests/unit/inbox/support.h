#pragma once
// A database that an application in any language shares with engines. The statements are those of docs/plain-sql.md.

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/plain_sql.h"
#include "support/test_database.h"

namespace easyretry {

using namespace std::chrono_literals;
using test::eventually;
using test::ServerKind;

class Inbox : public ::testing::TestWithParam<ServerKind> {
 protected:
  std::string url() const { return database_.url(); }
  std::string sql(const std::string& statement) { return application_->run(statement); }
  void ask_for(const std::string& handler, const std::string& arguments) {
    sql("INSERT INTO retry_inbox (method_name, params_json) VALUES ('" + handler + "', '" + arguments + "')");
  }
  // Optional, and PostgreSQL's alone.
  void say_so() {
    if (GetParam() == ServerKind::postgres) sql("SELECT pg_notify('easyretry', 'default')");
  }
  int in_the_inbox() { return std::stoi(sql("SELECT count(*) FROM retry_inbox")); }
  std::string error() { return sql("SELECT error FROM retry_inbox WHERE error IS NOT NULL"); }

 private:
  const test::TestDatabase database_{GetParam()};
  const std::unique_ptr<test::PlainSql> application_ =
      test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database_.name());
};

}  // namespace easyretry
