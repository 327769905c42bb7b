#include "storage/mysql/session.h"

#include "storage/mysql/values.h"
#include "storage/server/server_error.h"

namespace easyretry::storage {
namespace mysql {
namespace {

const std::string kNow = std::string{"SELECT "} + kServerTime;

TimePoint time_of(const std::string& milliseconds) {
  return from_ms(std::stoll(milliseconds));
}

}  // namespace

MysqlSession::MysqlSession(const MysqlAddress& address) : Session(ledger_, schema_), connection_(address) {}

MysqlSession::MysqlSession(MYSQL* joined) : Session(ledger_, schema_), connection_(joined) {}

TimePoint MysqlSession::begin(Promise /*promise*/) {
  return time_of(connection_.begin(lock_wait_, kNow));
}

// If the server does not accept the sums, it has not committed. After any other failure, only a conflict has certainly
// rolled back the transaction; otherwise the result is unknown, so the connection counts as lost.
void MysqlSession::commit() {
  const std::string sums = ledger_.insert_sums();
  try {
    connection_.run(sums.empty() ? "COMMIT WORK" : sums + ";COMMIT WORK");
  } catch (const server::ServerError& error) {
    if (error.trouble() == server::Trouble::again || error.trouble() == server::Trouble::locked) throw;
    if (!sums.empty() && !connection_.broken() && connection_.replies() == 0) throw;
    connection_.give_up();
    if (error.trouble() == server::Trouble::silent) throw;
    throw server::ServerError(server::Trouble::gone, error.what());
  }
}

TimePoint MysqlSession::now() {
  return time_of(connection_.ask(kNow));
}

}  // namespace mysql

std::unique_ptr<sql::Session> connect_mysql(const MysqlAddress& address) {
  return std::make_unique<mysql::MysqlSession>(address);
}

std::unique_ptr<sql::Session> join_mysql(st_mysql* connection) {
  return std::make_unique<mysql::MysqlSession>(connection);
}

}  // namespace easyretry::storage
