#include "storage/mysql/joining.h"

#include "storage/mysql/set_up.h"
#include "storage/sql/transactions.h"

namespace easyretry::storage::mysql {
namespace {

[[noreturn]] void refuse(std::string why) {
  throw server::Refusal{{Errc::invalid_argument, {}, std::move(why)}};
}

// See literals.h for what its values rely on. In gbk, say, a backslash can be the second half of a character.
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

Connection join(MYSQL* theirs) {
  if (theirs == nullptr) refuse("mysql_tx was given no connection");
  Connection connection{theirs};
  Rows rows = connection.select("SELECT @@character_set_client, @@character_set_connection, @@sql_mode");
  rows.next();
  check_character_set(rows.text(0));
  check_character_set(rows.text(1));
  check_mode(rows.text(2));
  connection.set_most_bytes(most_bytes(connection));
  return connection;
}

}  // namespace easyretry::storage::mysql
