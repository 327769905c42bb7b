#include "storage/mysql/address.h"

#include <atomic>
#include <memory>
#include <vector>

#include "storage/server/server_address.h"
#include "storage/sql/server_backend.h"
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

MysqlAddress address_of(server::ServerAddress server, const MysqlAddress& like) {
  MysqlAddress address = like;
  address.host = std::move(server.host);
  if (server.port != 0) address.port = server.port;
  address.user = std::move(server.user);
  address.password = std::move(server.password);
  address.database = std::move(server.database);
  return address;
}

// Connects to the primary, or the only server: the first one that answers and is writable. The server of the last
// connection comes first, because one that does not answer costs connect_timeout.
class Primary {
 public:
  explicit Primary(std::vector<MysqlAddress> servers) : servers_(std::move(servers)) {}

  std::unique_ptr<sql::Session> operator()() const {
    const std::size_t first = *last_;
    std::string why;
    for (std::size_t i = 0;; ++i) {
      const std::size_t place = (first + i) % servers_.size();
      const MysqlAddress& server = servers_[place];
      try {
        auto session = connect_mysql(server);
        *last_ = place;
        return session;
      } catch (const server::ServerError& error) {
        if (servers_.size() == 1) throw;
        why += (i == 0 ? "" : "; ") + server.host + ":" + std::to_string(server.port) + ": " + error.what();
        if (i + 1 == servers_.size()) throw server::ServerError{error.trouble(), why};
      }
    }
  }

 private:
  const std::vector<MysqlAddress> servers_;
  const std::shared_ptr<std::atomic<std::size_t>> last_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace

sql::ServerOptions mysql_options(const StoreUrl& address, std::string_view url) {
  sql::ServerOptions options{.kind = "mysql", .url = without_password(url), .connect = {}};
  MysqlAddress like;
  for (const auto& [name, value] : address.options) {
    if (name == "ssl") {
      like.tls = parse_tls(value, url);
    } else if (name == "ssl_ca") {
      like.ca = value;
    } else if (!sql::set_server_option(options, {url, name, value})) {
      refuse_word("option", name, url,
                  {"ssl", "ssl_ca", "history", "keep_months", "shards", "layout", "table_days", "connections",
                   server::kPasswordFile, server::kPasswordCommand});
    }
  }
  std::vector<MysqlAddress> servers;
  for (server::ServerAddress& server : server::parse_server_addresses(address, url)) {
    servers.push_back(address_of(std::move(server), like));
  }
  options.connect = Primary{std::move(servers)};
  options.joins = Transaction::Kind::mysql;
  options.join = [](void* connection) { return join_mysql(static_cast<st_mysql*>(connection)); };
  return options;
}

const Backend* easyretry_mysql_backend() {
  return &sql::server_backend<mysql_options>();
}

}  // namespace easyretry::storage
