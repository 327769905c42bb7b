#include "storage/mysql/set_up.h"

#include "storage/server/server_error.h"

namespace easyretry::storage::mysql {
namespace {

// SKIP LOCKED and JSON_TABLE.
constexpr unsigned long kOldestMariadb = 100600;
constexpr unsigned long kOldestMysql = 80011;

std::string dotted(unsigned long version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

void check_writable(Connection& connection) {
  if (connection.ask("SELECT @@GLOBAL.read_only") == "0") return;
  throw server::ServerError(server::Trouble::overloaded,
                            "the server is read-only (@@read_only), such as a replica; connect to the primary");
}

// The timeout of a statement: MariaDB counts in seconds and means every one, MySQL in milliseconds and only those that
// read. MariaDB would also make a list of 1,000 values a temporary table, and walk all tasks to look each up in it.
std::string variables_of_its_kind(const Connection& connection, const MysqlAddress& address) {
  const auto timeout = address.statement_timeout.count();
  if (!connection.is_mariadb()) return "SESSION max_execution_time = " + std::to_string(timeout * 1000);
  return "SESSION max_statement_time = " + std::to_string(timeout) +
         ", SESSION idle_transaction_timeout = " + std::to_string(address.idle_transaction_timeout.count()) +
         ", SESSION in_predicate_conversion_threshold = 0";
}

void set_variables(Connection& connection, const MysqlAddress& address) {
  const std::string lock_timeout = std::to_string(address.lock_timeout.count());
  connection.run(
      "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
      "SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
      "SESSION innodb_lock_wait_timeout = " +
      lock_timeout + ", SESSION lock_wait_timeout = " + lock_timeout + ", " +
      variables_of_its_kind(connection, address));
}

std::string power_cut(const std::string& flush, bool binlog, const std::string& sync_binlog) {
  if (flush == "0" || flush == "2") {
    return "innodb_flush_log_at_trx_commit=" + flush + ", so a power cut may lose the last second";
  }
  if (binlog && sync_binlog != "1") {
    return "sync_binlog=" + sync_binlog + ", so a power cut may lose what the binary log has not written to disk";
  }
  return {};
}

}  // namespace

void check_version(bool is_mariadb, unsigned long version) {
  const unsigned long oldest = is_mariadb ? kOldestMariadb : kOldestMysql;
  if (version >= oldest) return;
  const std::string name = is_mariadb ? "MariaDB " : "MySQL ";
  throw server::ServerError(server::Trouble::refused, "the server is " + name + dotted(version) + "; EasyRetry needs " +
                                                          name + dotted(oldest) + " or newer");
}

void set_up(Connection& connection, const MysqlAddress& address) {
  check_version(connection.is_mariadb(), connection.version());
  check_writable(connection);
  set_variables(connection, address);
  connection.set_most_bytes(most_bytes(connection));
}

std::size_t most_bytes(Connection& connection) {
  constexpr std::size_t kReserve = 1024;  // for the packet's own
  return std::stoull(connection.ask("SELECT @@max_allowed_packet")) - kReserve;
}

Durability durability(Connection& connection) {
  Rows rows = connection.select(
      "SELECT @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog, @@innodb_doublewrite, @@innodb_flush_method");
  rows.next();
  const std::string flush{rows.text(0)};
  const bool unsure = flush == "0";
  std::string words = unsure ? "nothing for sure" : "a crash of the server process";
  if (rows.text(4) == "nosync") {
    return {words + "; innodb_flush_method=nosync, so a power cut may lose everything", unsure};
  }
  const std::string lost = power_cut(flush, rows.text(1) == "1", std::string{rows.text(2)});
  words = lost.empty() ? "a power cut on the server's machine" : words + "; " + lost;
  const bool torn = rows.text(3) == "0" || rows.text(3) == "OFF";
  if (torn) words += "; innodb_doublewrite is off, so a power cut may damage pages";
  return {words, unsure};
}

}  // namespace easyretry::storage::mysql
