#include "storage/postgres/open_postgres.h"

#include <algorithm>
#include <array>
#include <string>

#include "storage/postgres/notifier.h"
#include "storage/postgres/session.h"
#include "storage/server/server_address.h"
#include "storage/sql/server_options.h"

namespace easyretry::storage {
namespace {

constexpr std::array<std::string_view, 6> kForLibpq{"sslmode", "sslrootcert",     "sslcert",
                                                    "sslkey",  "connect_timeout", "application_name"};

// keyword='value' as libpq reads it: characters that would end the value are escaped.
void add(std::string& settings, std::string_view keyword, std::string_view value) {
  settings.append(keyword).append("='");
  for (const char c : value) {
    if (c == '\'' || c == '\\') settings.push_back('\\');
    settings.push_back(c);
  }
  settings.append("' ");
}

std::string settings_for(const server::ServerAddress& server) {
  std::string settings;
  add(settings, "host", server.host);
  if (server.port != 0) add(settings, "port", std::to_string(server.port));
  if (!server.user.empty()) add(settings, "user", server.user);
  if (!server.password.empty()) add(settings, "password", server.password);
  add(settings, "dbname", server.database);
  add(settings, "client_encoding", "UTF8");
  // A server that vanishes silently is noticed within 15 s.
  add(settings, "keepalives_idle", "5");
  add(settings, "keepalives_interval", "3");
  add(settings, "keepalives_count", "3");
  add(settings, "tcp_user_timeout", "15000");
  return settings;
}

}  // namespace

sql::ServerOptions postgres_options(const StoreUrl& address, std::string_view url) {
  sql::ServerOptions options{.kind = "postgres", .url = without_password(url), .connect = {}};
  std::string settings = settings_for(server::parse_server_address(address, url));
  bool timeout_given = false;
  for (const auto& [name, value] : address.options) {
    if (std::find(kForLibpq.begin(), kForLibpq.end(), name) != kForLibpq.end()) {
      add(settings, name, value);
      timeout_given |= name == "connect_timeout";
    } else if (!sql::set_server_option(options, {url, name, value})) {
      refuse_word("option", name, url,
                  {"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name", "history",
                   "keep_months", "shards", "layout", "table_days", "connections"});
    }
  }
  if (!timeout_given) add(settings, "connect_timeout", "5");
  options.connect = [settings, new_keys = std::make_shared<postgres::NewKeys>()] {
    return std::make_unique<postgres::PostgresSession>(settings, new_keys);
  };
  options.news = std::make_shared<postgres::Notifier>(settings);
  options.joins = Transaction::Kind::postgres;
  options.join = [](void* connection) {
    return std::make_unique<postgres::PostgresSession>(static_cast<PGconn*>(connection));
  };
  return options;
}

}  // namespace easyretry::storage
