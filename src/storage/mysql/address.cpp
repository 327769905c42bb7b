#include "storage/mysql/address.h"

#include "storage/server/server_address.h"
#include "storage/sql/server_options.h"

namespace easyretry::storage {
namespace {

Tls parse_tls(std::string_view value, std::string_view url) {
  if (value == "off") return Tls::off;
  if (value == "on") return Tls::on;
  if (value == "verify-ca") return Tls::verify_ca;
  if (value == "verify-full") return Tls::verify_full;
  refuse_word("value of ssl", value, url, {"off", "on", "verify-ca", "verify-full"});
}

MysqlAddress address_of(server::ServerAddress server) {
  MysqlAddress address;
  address.host = std::move(server.host);
  if (server.port != 0) address.port = server.port;
  address.user = std::move(server.user);
  address.password = std::move(server.password);
  address.database = std::move(server.database);
  return address;
}

}  // namespace

sql::ServerOptions mysql_options(const StoreUrl& address, std::string_view url) {
  sql::ServerOptions options{.kind = "mysql", .url = without_password(url), .connect = {}};
  MysqlAddress server = address_of(server::parse_server_address(address, url));
  for (const auto& [name, value] : address.options) {
    if (name == "ssl") {
      server.tls = parse_tls(value, url);
    } else if (name == "ssl_ca") {
      server.ca = value;
    } else if (!sql::set_server_option(options, {url, name, value})) {
      refuse_word("option", name, url,
                  {"ssl", "ssl_ca", "history", "keep_months", "shards", "layout", "table_days", "connections"});
    }
  }
  options.connect = [server] { return connect_mysql(server); };
  options.joins = Transaction::Kind::mysql;
  options.join = [](void* connection) { return join_mysql(static_cast<st_mysql*>(connection)); };
  return options;
}

}  // namespace easyretry::storage
