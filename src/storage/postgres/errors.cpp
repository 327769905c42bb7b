#include "storage/postgres/errors.h"

#include <algorithm>
#include <array>
#include <string>

namespace easyretry::storage::postgres {
namespace {

using server::ServerError;
using server::Trouble;

struct Class {
  std::string_view begins;  // a SQLSTATE, or the class of many: its first two characters
  Trouble trouble;
  std::string_view remedy;
};

// The first that fits counts.
constexpr std::array kClasses{
    Class{"40", Trouble::again, ""},  // serialization failure, deadlock, transaction rolled back
    Class{"55P03", Trouble::locked, "; look for a transaction that stays open"},
    Class{"23505", Trouble::again, ""},  // there already, by somebody who was quicker
    Class{"57P01", Trouble::gone, ""},   // shut down by an administrator
    Class{"57P02", Trouble::gone, ""},   // crash of another backend
    Class{"57P03", Trouble::gone, ""},   // starting up
    Class{"57P05", Trouble::gone, ""},   // idle session timeout
    Class{"25P03", Trouble::gone, ""},   // idle in transaction timeout
    Class{"08", Trouble::gone, ""},
    Class{"57014", Trouble::overloaded, "; the statement took too long: look for locks and long transactions"},
    Class{"53300", Trouble::overloaded, "; raise max_connections, or give this instance fewer connections"},
    Class{"53", Trouble::overloaded, "; the server is out of memory or disk space"},
    Class{"25006", Trouble::overloaded,
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

}  // namespace

Trouble trouble_of(std::string_view sqlstate) {
  return class_of(sqlstate).trouble;
}

ServerError server_error(PGconn* connection, const PGresult* result) {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (PQstatus(connection) != CONNECTION_OK || state == nullptr) {
    return {Trouble::gone, "the connection to PostgreSQL was lost: " + trimmed(PQerrorMessage(connection))};
  }
  const Class& known = class_of(state);
  std::string text = trimmed(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  text.append(" (SQLSTATE ").append(state).append(")").append(known.remedy);
  return {known.trouble, text};
}

// libpq gives no SQLSTATE for a connection that was refused; what the server said is in the text, in English or not.
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

}  // namespace easyretry::storage::postgres
