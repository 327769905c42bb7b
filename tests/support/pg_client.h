#pragma once
// An application's own connection to PostgreSQL.

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace easyretry::test {

class PgClient {
 public:
  explicit PgClient(const std::string& url) : handle_(PQconnectdb((url + "?sslmode=disable").c_str())) {}

  PGconn* get() const { return handle_.get(); }
  void run(const std::string& sql) {
    PGresult* const result = PQexec(get(), sql.c_str());
    const ExecStatusType status = PQresultStatus(result);
    const std::string error = PQresultErrorMessage(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(error);
  }
  // The notifications on its channels since the last call.
  std::vector<std::string> notifications() {
    std::vector<std::string> payloads;
    PQconsumeInput(get());
    while (PGnotify* const news = PQnotifies(get())) {
      payloads.emplace_back(news->extra);
      PQfreemem(news);
    }
    return payloads;
  }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> handle_;
};

}  // namespace easyretry::test
