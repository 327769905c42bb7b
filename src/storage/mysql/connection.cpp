#include "storage/mysql/connection.h"

#include <charconv>
#include <utility>

#include "storage/mysql/errors.h"

namespace easyretry::storage::mysql {
namespace {

constexpr std::string_view kBeginAgain = ": the server has rolled back your whole transaction; begin it again";

// Not safe to be done by two threads at once; a static is.
MYSQL* new_handle() {
  static const int prepared = mysql_library_init(0, nullptr, nullptr);
  MYSQL* handle = prepared == 0 ? mysql_init(nullptr) : nullptr;
  if (handle == nullptr) throw server::ServerError(server::Trouble::overloaded, "no memory for a connection");
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
    throw server::ServerError(server::Trouble::refused,
                              "ssl=verify-ca needs the authority's certificate: ssl_ca=<file>");
  }
  set_flag(handle, MYSQL_OPT_SSL_ENFORCE, true);
  if (address.tls == Tls::on) return;
  set_flag(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, address.tls == Tls::verify_full);
  if (!address.ca.empty()) mysql_optionsv(handle, MYSQL_OPT_SSL_CA, address.ca.c_str());
}

// Otherwise the library takes "localhost" for a socket of its own choice.
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
  const unsigned no_files = 0;  // a server may otherwise ask for any file of ours
  mysql_optionsv(handle, MYSQL_OPT_LOCAL_INFILE, &no_files);
  set_tls(handle, address);
}

}  // namespace

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

Connection::Connection(const MysqlAddress& address) : handle_(new_handle(), Close{false}), patience_(address.patience) {
  set_options(handle_.get(), address);
  const bool local = !address.socket.empty();
  const MYSQL* done =
      mysql_real_connect(handle_.get(), local ? nullptr : address.host.c_str(), address.user.c_str(),
                         address.password.c_str(), address.database.c_str(), static_cast<unsigned>(address.port),
                         local ? address.socket.c_str() : nullptr, CLIENT_MULTI_STATEMENTS);
  if (done == nullptr) fail();
  connected_ = true;
}

bool Connection::is_mariadb() const {
  return mariadb_connection(handle_.get()) != 0;
}

unsigned long Connection::version() const {
  return mysql_get_server_version(handle_.get());
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
  if (!is_theirs()) return run(first + ";" + second);
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

void Connection::send(const std::string& statements) {
  asked_at_ = std::chrono::steady_clock::now();
  replies_ = 0;
  if (mysql_real_query(handle_.get(), statements.data(), statements.size()) != 0) fail();
  ++replies_;
}

// "There is no other reply" is also what the library says where the connection breaks among the names of its columns.
bool Connection::next_reply() {
  const int answer = mysql_next_result(handle_.get());
  if (answer > 0 || mysql_errno(handle_.get()) != 0) fail();
  if (answer == 0) ++replies_;
  return answer == 0;
}

void Connection::fail() {
  const unsigned code = mysql_errno(handle_.get());
  const server::ServerError error = server_error(code, mysql_error(handle_.get()));
  if (is_theirs() && undoes_transaction(code)) {
    throw server::ServerError(error.trouble(), error.what() + std::string{kBeginAgain});
  }
  if (!connected_ || !loses_connection(code)) throw error;
  broken_ = true;
  if (waited_in_vain()) {
    throw server::ServerError(server::Trouble::silent, "the server does not answer; the connection is closed");
  }
  throw server::ServerError(server::Trouble::gone, error.what());
}

// The library reports a timeout as a lost connection, like any other.
bool Connection::waited_in_vain() const {
  return patience_ && std::chrono::steady_clock::now() - asked_at_ >= *patience_;
}

}  // namespace easyretry::storage::mysql
