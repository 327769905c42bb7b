#include "support/plain_sql.h"

#include <libpq-fe.h>
#include <mysql.h>

namespace easyretry::test {
namespace {

class PostgresSql final : public PlainSql {
 public:
  PostgresSql(int port, const std::string& database)
      : connection_(PQconnectdb((server_url(ServerKind::postgres, port, database) + "?sslmode=disable").c_str()),
                    PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) throw SqlError(PQerrorMessage(connection_.get()));
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
  }

  std::string run(const std::string& statement) override {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection_.get(), statement.c_str()), PQclear};
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw SqlError(PQerrorMessage(connection_.get()));
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

class MariadbSql final : public PlainSql {
 public:
  MariadbSql(int port, const std::string& database) : connection_(mysql_init(nullptr), mysql_close) {
    const auto done = mysql_real_connect(connection_.get(), "127.0.0.1", "easyretry", "secret", database.c_str(),
                                         static_cast<unsigned>(port), nullptr, 0);
    if (done == nullptr) throw SqlError(mysql_error(connection_.get()));
  }

  std::string run(const std::string& statement) override {
    if (mysql_query(connection_.get(), statement.c_str()) != 0) throw SqlError(mysql_error(connection_.get()));
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result{mysql_store_result(connection_.get()),
                                                                          mysql_free_result};
    const MYSQL_ROW row = result ? mysql_fetch_row(result.get()) : nullptr;
    return row != nullptr && row[0] != nullptr ? row[0] : "";
  }

 private:
  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

}  // namespace

std::unique_ptr<PlainSql> connect_plainly(ServerKind kind, int port, const std::string& database) {
  if (kind == ServerKind::postgres) return std::make_unique<PostgresSql>(port, database);
  return std::make_unique<MariadbSql>(port, database);
}

}  // namespace easyretry::test
