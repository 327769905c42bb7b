#include "storage/mysql/connection.h"

#include <charconv>
#include <utility>

namespace easyretry::storage::mysql {
namespace {

using server::ServerError;
using server::Trouble;

// START TRANSACTION waits for no lock. Galera gives the number of a lock wait to a wait for other nodes that has
// failed.
constexpr const char* kBehind =
    "the node has not applied in time what others have committed (wsrep_sync_wait): it, or its cluster, is busy or "
    "changing";
constexpr std::string_view kBeginAgain = ": the server has rolled back your whole transaction; begin it again";

// The first versions with SKIP LOCKED, JSON_TABLE and expressions as defaults.
constexpr unsigned long kOldestMariadb = 100600;  // 10.6.0
constexpr unsigned long kOldestMysql = 80013;

std::string dotted(unsigned long version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// mysql_library_init must not be called by two threads at once; a static is initialized by one.
MYSQL* new_handle() {
  static const int prepared = mysql_library_init(0, nullptr, nullptr);
  MYSQL* handle = prepared == 0 ? mysql_init(nullptr) : nullptr;
  if (handle == nullptr) throw ServerError(Trouble::overloaded, "no memory for a connection");
  return handle;
}

void set_seconds(MYSQL* handle, mysql_option option, std::chrono::seconds timeout) {
  const auto seconds = static_cast<unsigned>(timeout.count());
  mysql_optionsv(handle, option, &seconds);
}

void set_flag(MYSQL* handle, mysql_option option, bool value) {
  const my_bool flag = value ? 1 : 0;
  mysql_optionsv(handle, option, &flag);
}

void set_tls(MYSQL* handle, const MysqlAddress& address) {
  if (address.tls == Tls::off) return;
  if (address.tls == Tls::verify_ca && address.ca.empty()) {  // the library would then verify nothing
    throw ServerError(Trouble::refused, "ssl=verify-ca needs the authority's certificate: ssl_ca=<file>");
  }
  set_flag(handle, MYSQL_OPT_SSL_ENFORCE, true);
  if (address.tls == Tls::on) return;
  set_flag(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, address.tls == Tls::verify_full);
  if (!address.ca.empty()) mysql_optionsv(handle, MYSQL_OPT_SSL_CA, address.ca.c_str());
}

// Without this, the library connects "localhost" through a socket of its own choice.
void set_protocol(MYSQL* handle, const MysqlAddress& address) {
  const unsigned protocol = address.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  mysql_optionsv(handle, MYSQL_OPT_PROTOCOL, &protocol);
}

void set_options(MYSQL* handle, const MysqlAddress& address) {
  set_protocol(handle, address);
  set_seconds(handle, MYSQL_OPT_CONNECT_TIMEOUT, address.connect_timeout);
  set_seconds(handle, MYSQL_OPT_READ_TIMEOUT, address.patience);
  set_seconds(handle, MYSQL_OPT_WRITE_TIMEOUT, address.patience);
  mysql_optionsv(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const unsigned no_files = 0;  // otherwise a server may ask for any file of this machine
  mysql_optionsv(handle, MYSQL_OPT_LOCAL_INFILE, &no_files);
  set_tls(handle, address);
}

// The timeout of a statement: MariaDB counts in seconds and applies it to all, MySQL in milliseconds and only to those
// that read. Without in_predicate_conversion_threshold = 0, MariaDB would turn a list of 1,000 values into a temporary
// table, and walk all tasks to look up each of them in it.
std::string variables_of_its_kind(bool is_mariadb, const MysqlAddress& address) {
  const auto timeout = address.statement_timeout.count();
  if (!is_mariadb) return "SESSION max_execution_time = " + std::to_string(timeout * 1000);
  return "SESSION max_statement_time = " + std::to_string(timeout) +
         ", SESSION idle_transaction_timeout = " + std::to_string(address.idle_transaction_timeout.count()) +
         ", SESSION in_predicate_conversion_threshold = 0";
}

// A node of a Galera cluster answers with what it has applied so far, which may be older than a commit on another node:
// a settlement would not find the claim it belongs to, and the task would run again when the lease has expired. With
// this, a transaction begins, and a single statement runs, when the node has applied all that was committed before (1:
// reads and transactions, 2: UPDATE and DELETE, 4: INSERT).
constexpr const char* kGaleraWaits = ", SESSION wsrep_sync_wait = 7";

[[noreturn]] void refuse(std::string why) {
  throw server::Refusal{{Errc::invalid_argument, {}, std::move(why)}};
}

// values.h says why. In gbk, for example, a backslash can be the second half of a character.
void check_character_set(std::string_view name) {
  if (name == "utf8mb4") return;
  refuse("the connection's character set is " + std::string{name} +
         "; a task is stored in utf8mb4: call mysql_set_character_set(connection, \"utf8mb4\") on it first");
}

void check_mode(std::string_view mode) {
  if (mode.find("NO_BACKSLASH_ESCAPES") == std::string_view::npos) return;
  refuse("the connection's sql_mode has NO_BACKSLASH_ESCAPES; take it out, or use submit without a transaction");
}

}  // namespace

void check_product(std::string_view version) {
  if (version.find("TiDB") == std::string_view::npos) return;
  throw ServerError(
      Trouble::refused,
      "the server is TiDB (" + std::string{version} +
          "), which EasyRetry does not support: it has no SKIP LOCKED, by which instances claim tasks without "
          "waiting for one another; use MySQL " +
          dotted(kOldestMysql) + ", MariaDB " + dotted(kOldestMariadb) + ", a newer one, or PostgreSQL");
}

void check_version(bool is_mariadb, unsigned long version) {
  const unsigned long oldest = is_mariadb ? kOldestMariadb : kOldestMysql;
  if (version >= oldest) return;
  const std::string name = is_mariadb ? "MariaDB " : "MySQL ";
  throw ServerError(Trouble::refused, "the server is " + name + dotted(version) + "; EasyRetry needs " + name +
                                          dotted(oldest) + " or newer");
}

bool is_writable(std::string_view read_only) {
  return read_only == "0" || read_only == "OFF";
}

bool Rows::next() {
  if (!result_) return false;
  row_ = mysql_fetch_row(result_.get());
  if (row_ != nullptr) lengths_ = mysql_fetch_lengths(result_.get());
  return row_ != nullptr;
}

std::string_view Rows::text(int column) const {
  return is_null(column) ? std::string_view{} : std::string_view{row_[column], lengths_[column]};
}

std::int64_t Rows::integer(int column) const {
  const std::string_view digits = text(column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Connection::Connection(const MysqlAddress& address)
    : handle_(new_handle(), Closer{false}),
      patience_(address.patience),
      lock_timeout_(address.lock_timeout),
      brief_lock_timeout_(address.brief_lock_timeout),
      demotions_(address.demotions),
      demotions_before_(address.demotions.count()) {
  set_options(handle_.get(), address);
  const bool local = !address.socket.empty();
  const MYSQL* done = mysql_real_connect(handle_.get(), local ? nullptr : address.host.c_str(), address.user.c_str(),
                                         address.password.current().c_str(), address.database.c_str(),
                                         static_cast<unsigned>(address.port), local ? address.socket.c_str() : nullptr,
                                         CLIENT_MULTI_STATEMENTS);
  if (done == nullptr) fail();
  connected_ = true;
  set_up(address);
}

Connection::Connection(MYSQL* handle) : handle_(handle, Closer{true}), connected_(true) {
  if (handle == nullptr) refuse("mysql_tx was given no connection");
  check_settings_of_application();
  read_most_bytes();
}

void Connection::set_up(const MysqlAddress& address) {
  check_product(mysql_get_server_info(handle_.get()));
  check_version(is_mariadb(), mysql_get_server_version(handle_.get()));
  check_writable();
  const std::string lock_timeout = std::to_string(lock_timeout_.count());
  run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
      "SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
      "SESSION innodb_lock_wait_timeout = " +
      lock_timeout + ", SESSION lock_wait_timeout = " + lock_timeout + ", " +
      variables_of_its_kind(is_mariadb(), address) + (is_galera() ? kGaleraWaits : ""));
  timeout_set_ = lock_timeout_;
  read_most_bytes();
}

void Connection::check_writable() {
  if (is_writable(ask("SELECT @@GLOBAL.read_only"))) return;
  throw ServerError(Trouble::overloaded,
                    "the server is read-only (@@read_only), such as a replica; connect to the primary");
}

// Servers without Galera do not have the variable.
bool Connection::is_galera() {
  Rows rows = select("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'");
  return rows.next() && rows.text(1) == "ON";
}

void Connection::check_settings_of_application() {
  Rows rows = select("SELECT @@character_set_client, @@character_set_connection, @@sql_mode");
  rows.next();
  check_character_set(rows.text(0));
  check_character_set(rows.text(1));
  check_mode(rows.text(2));
}

void Connection::read_most_bytes() {
  constexpr std::size_t kReserve = 1024;  // for the header of the packet
  most_bytes_ = std::stoull(ask("SELECT @@max_allowed_packet")) - kReserve;
}

bool Connection::is_mariadb() const {
  return mariadb_connection(handle_.get()) != 0;
}

std::uint64_t Connection::run(const std::string& statements) {
  send(statements);
  std::uint64_t changed = 0;
  do {
    const Rows unused{mysql_store_result(handle_.get())};
    if (mysql_errno(handle_.get()) != 0) fail();
    changed = mysql_affected_rows(handle_.get());
  } while (next_reply());
  return changed;
}

std::uint64_t Connection::run_both(const std::string& first, const std::string& second) {
  if (!joined()) return run(first + ";" + second);
  run(first);
  return run(second);
}

Rows Connection::select(const std::string& statements) {
  send(statements);
  Rows rows{nullptr};
  do {
    rows = Rows{mysql_store_result(handle_.get())};
    if (mysql_errno(handle_.get()) != 0) fail();
  } while (next_reply());
  return rows;
}

std::string Connection::ask(const std::string& statement) {
  Rows rows = select(statement);
  return rows.next() ? std::string{rows.text(0)} : std::string{};
}

// The timeout rarely changes: the sessions of one pool are used for one kind of work.
std::string Connection::begin(sql::LockWait wait, const std::string& query) {
  lock_wait_ = wait;
  std::string statements;
  const std::chrono::seconds timeout = wait == sql::LockWait::patient ? lock_timeout_ : brief_lock_timeout_;
  if (timeout != timeout_set_) {
    timeout_set_ = timeout;
    statements = "SET SESSION innodb_lock_wait_timeout = " + std::to_string(timeout.count()) + ";";
  }
  const int done_before = statements.empty() ? 0 : 1;
  try {
    return ask(statements + "START TRANSACTION READ WRITE;" + query);
  } catch (const ServerError& error) {
    if (error.trouble() != Trouble::locked || replies_ != done_before) throw;
    throw ServerError(Trouble::overloaded, kBehind);
  }
}

void Connection::roll_back() noexcept {
  try {
    run("ROLLBACK");
  } catch (...) {
    broken_ = true;
  }
}

void Connection::send(const std::string& statements) {
  asked_at_ = std::chrono::steady_clock::now();
  replies_ = 0;
  if (mysql_real_query(handle_.get(), statements.data(), statements.size()) != 0) fail();
  ++replies_;
}

// The library also says that there is no other reply if the connection breaks while it reads the names of columns.
bool Connection::next_reply() {
  const int answer = mysql_next_result(handle_.get());
  if (answer > 0 || mysql_errno(handle_.get()) != 0) fail();
  if (answer == 0) ++replies_;
  return answer == 0;
}

void Connection::fail() {
  const unsigned code = mysql_errno(handle_.get());
  const ServerError error = server_error(code, mysql_error(handle_.get()));
  if (joined() && undoes_transaction(code)) {
    throw ServerError(error.trouble(), error.what() + std::string{kBeginAgain});
  }
  if (!joined() && is_read_only(code)) demotions_.add();
  if (!connected_ || !loses_connection(code)) throw error;
  broken_ = true;
  if (timed_out()) throw ServerError(Trouble::silent, "the server does not answer; the connection is closed");
  throw ServerError(Trouble::gone, error.what());
}

// The library reports a timeout as a lost connection.
bool Connection::timed_out() const {
  return patience_ && std::chrono::steady_clock::now() - asked_at_ >= *patience_;
}

}  // namespace easyretry::storage::mysql
