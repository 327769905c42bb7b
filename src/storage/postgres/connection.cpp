#include "storage/postgres/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include <poll.h>

namespace easyretry::storage::postgres {
namespace {

using server::ServerError;
using server::Trouble;

// Kinds of SQLSTATEs.
struct Class {
  std::string_view begins;  // one SQLSTATE, or the first two characters of many
  Trouble trouble;
  std::string_view remedy;
};

constexpr std::string_view kReadOnly = "25006";

// The first match counts.
constexpr std::array kClasses{
    Class{"40", Trouble::again, ""},  // serialization failure, deadlock, transaction rolled back
    Class{"55P03", Trouble::locked, "; look for a transaction that stays open"},
    Class{"23505", Trouble::again, ""},  // another instance was quicker
    Class{"57P01", Trouble::gone, ""},   // shut down by an administrator
    Class{"57P02", Trouble::gone, ""},   // crash of another backend
    Class{"57P03", Trouble::gone, ""},   // starting up
    Class{"57P05", Trouble::gone, ""},   // idle session timeout
    Class{"25P03", Trouble::gone, ""},   // idle in transaction timeout
    Class{"08", Trouble::gone, ""},
    Class{"57014", Trouble::overloaded, "; the statement took too long: look for locks and long transactions"},
    Class{"53300", Trouble::overloaded, "; raise max_connections, or give this instance fewer connections"},
    Class{"53", Trouble::overloaded, "; the server is out of memory or disk space"},
    Class{kReadOnly, Trouble::overloaded,
          "; this is a replica, or default_transaction_read_only is on: connect to the primary, or turn it off"},
    Class{"28", Trouble::refused, "; check the user and the password in the url, and pg_hba.conf"},
    Class{"3D000", Trouble::refused, "; create the database first: CREATE DATABASE"},
    Class{"3F000", Trouble::refused, "; create the schema first, or set the user's search_path to one that exists"},
    Class{"42501", Trouble::refused,
          "; the user lacks a right: GRANT CREATE, USAGE ON SCHEMA public, and own the tables"},
    Class{"42P01", Trouble::no_table, "; a table of EasyRetry is missing: restart to have it created again"},
    Class{"22", Trouble::bad_data, ""},
    Class{"23", Trouble::bad_data, ""},
    Class{"54", Trouble::bad_data, ""},
    Class{"42", Trouble::refused,
          "; the tables are not as EasyRetry created them: add what is missing, or rename the table to have it created "
          "anew"},
};

constexpr Class kUnknown{"", Trouble::overloaded, ""};
constexpr std::string_view kTls = "; check sslmode and sslrootcert in the url, and that the server has TLS";

const Class& class_of(std::string_view sqlstate) {
  const auto* const found = std::find_if(kClasses.begin(), kClasses.end(),
                                         [&](const Class& known) { return sqlstate.starts_with(known.begins); });
  return found == kClasses.end() ? kUnknown : *found;
}

std::string trimmed(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

const char* sqlstate_of(const PGresult* result) {
  return result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

bool is_read_only(const PGresult* result) {
  const char* state = sqlstate_of(result);
  return state != nullptr && std::string_view{state} == kReadOnly;
}

ServerError server_error(PGconn* connection, const PGresult* result) {
  const char* state = sqlstate_of(result);
  if (PQstatus(connection) != CONNECTION_OK || state == nullptr) {
    return {Trouble::gone, "the connection to PostgreSQL was lost: " + trimmed(PQerrorMessage(connection))};
  }
  const Class& known = class_of(state);
  std::string text = trimmed(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  text.append(" (SQLSTATE ").append(state).append(")").append(known.remedy);
  return {known.trouble, text};
}

// libpq has no SQLSTATE for a refused connection. The server's message is in the text, in English or not.
ServerError connect_error(PGconn* connection) {
  const std::string text = trimmed(PQerrorMessage(connection));
  const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (says("password authentication failed") || says("no pg_hba.conf entry") || says("no password supplied")) {
    return {Trouble::refused, text + std::string{class_of("28").remedy}};
  }
  if (says("certificate") || says("SSL")) return {Trouble::refused, text + std::string{kTls}};
  if (says("does not exist")) return {Trouble::refused, text + std::string{class_of("3D000").remedy}};
  if (says("too many")) return {Trouble::overloaded, text + std::string{class_of("53300").remedy}};
  return {Trouble::gone, text};
}

template <class Int>
std::int64_t take(const char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return static_cast<Int>(value);
}

}  // namespace

Trouble trouble_of(std::string_view sqlstate) {
  return class_of(sqlstate).trouble;
}

std::int64_t Rows::integer(int row, int column) const {
  const char* bytes = PQgetvalue(result_.get(), row, column);
  switch (PQgetlength(result_.get(), row, column)) {
    case 2: return take<std::int16_t>(bytes);
    case 4: return take<std::int32_t>(bytes);
    case 8: return take<std::int64_t>(bytes);
    default: return 0;
  }
}

std::vector<TaskId> Rows::ids() const {
  return each([&](int row) { return TaskId{integer(row, 0)}; });
}

std::vector<task::TaskRecord> Rows::records() const {
  return each([&](int row) { return read_record(Row{*this, row}); });
}

Connection::Connection(const std::string& settings, const server::Demotions& demotions)
    : demotions_(demotions), demotions_before_(demotions.count()), handle_(PQconnectdb(settings.c_str())) {
  if (PQstatus(handle_.get()) != CONNECTION_OK) throw connect_error(handle_.get());
  PQsetnonblocking(handle_.get(), 1);
  // A pooler gives out process ids of its own.
  behind_pooler_ = run("SELECT pg_backend_pid()").str(0, 0) != std::to_string(PQbackendPID(handle_.get()));
}

std::string Connection::encoding() const {
  const char* name = PQparameterStatus(handle_.get(), "server_encoding");
  return name == nullptr ? "" : name;
}

std::string Connection::literal(std::string_view text) {
  const std::unique_ptr<char, decltype(&PQfreemem)> escaped{PQescapeLiteral(handle_.get(), text.data(), text.size()),
                                                            PQfreemem};
  if (!escaped) throw ServerError{Trouble::bad_data, PQerrorMessage(handle_.get())};
  return escaped.get();
}

Rows Connection::run(const std::string& sql) {
  return answer(PQsendQuery(handle_.get(), sql.c_str()));
}

void Connection::roll_back() noexcept {
  try {
    run("ROLLBACK");
  } catch (const ServerError&) {
    // Then the connection is broken.
  }
}

Rows Connection::run(std::string_view sql, const Params& params) {
  const auto count = static_cast<int>(params.size());
  std::vector<const char*> values;
  std::vector<int> lengths;
  const std::vector<int> binary(params.size(), 1);
  for (const auto& value : params.values_) {
    values.push_back(value ? value->data() : nullptr);
    lengths.push_back(value ? static_cast<int>(value->size()) : 0);
  }
  if (is_borrowed() || behind_pooler_) {
    return answer(PQsendQueryParams(handle_.get(), std::string{sql}.c_str(), count, params.types_.data(), values.data(),
                                    lengths.data(), binary.data(), 1));
  }
  const std::string& name = prepared(sql, params);
  return answer(
      PQsendQueryPrepared(handle_.get(), name.c_str(), count, values.data(), lengths.data(), binary.data(), 1));
}

const std::string& Connection::prepared(std::string_view sql, const Params& params) {
  const auto known = names_.find(sql);
  if (known != names_.end()) return known->second;
  const std::string name = "er" + std::to_string(names_.size());
  std::string text{sql};
  answer(PQsendPrepare(handle_.get(), name.c_str(), text.c_str(), static_cast<int>(params.types_.size()),
                       params.types_.data()));
  return names_.emplace(std::move(text), name).first->second;
}

// The last result of several statements, or the first that failed. Does the work of libpq's blocking calls, but does
// not wait for ever: the kernel notices a peer that is dead, but not one that is alive and silent.
Rows Connection::answer(int sent) {
  if (sent == 0) throw server_error(handle_.get(), nullptr);
  std::chrono::nanoseconds left = kPatience;
  flush(left);
  Rows last{nullptr};
  bool failed = false;
  while (true) {
    while (PQisBusy(handle_.get()) != 0) read(left);
    Rows next{PQgetResult(handle_.get())};
    if (next.get() == nullptr) break;
    if (failed) continue;
    const ExecStatusType status = PQresultStatus(next.get());
    failed = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
    last = std::move(next);
  }
  if (!failed && last.get() != nullptr) return last;
  if (!is_borrowed() && is_read_only(last.get())) demotions_.add();
  throw server_error(handle_.get(), last.get());
}

// Reads while it writes: a server that cannot send its answers accepts no more requests.
void Connection::flush(std::chrono::nanoseconds& patience) {
  for (int waiting = 0; (waiting = PQflush(handle_.get())) != 0;) {
    if (waiting < 0) throw server_error(handle_.get(), nullptr);
    wait_for(POLLIN | POLLOUT, patience);
    consume();
  }
}

// An encrypted record has up to 16 KB. OpenSSL has taken it from the socket, where poll() no longer sees it, and each
// call reads at least 8 KB of it.
void Connection::read(std::chrono::nanoseconds& patience) {
  wait_for(POLLIN, patience);
  const bool encrypted = PQsslInUse(handle_.get()) != 0 || PQgssEncInUse(handle_.get()) != 0;
  for (int calls = encrypted ? 3 : 1; calls > 0; --calls) consume();
}

void Connection::consume() {
  if (PQconsumeInput(handle_.get()) != 0) return;
  lost_ = true;
  throw server_error(handle_.get(), nullptr);
}

// Each slice of a wait counts as a second at most, however long it took: if this process was stopped in the meantime,
// perhaps together with the server, the time says nothing about the server.
void Connection::wait_for(short events, std::chrono::nanoseconds& patience) {
  constexpr std::chrono::nanoseconds kSlice = std::chrono::seconds{1};
  pollfd socket{PQsocket(handle_.get()), events, 0};
  while (true) {
    const auto began = std::chrono::steady_clock::now();
    if (poll(&socket, 1, 1000) > 0) return;
    patience -= std::min<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began, kSlice);
    if (patience > std::chrono::nanoseconds{0}) continue;
    lost_ = true;
    throw ServerError{Trouble::silent, "PostgreSQL does not answer; the connection is closed"};
  }
}

}  // namespace easyretry::storage::postgres
