#include "storage/postgres/open_postgres.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "storage/postgres/notifier.h"
#include "storage/postgres/session.h"
#include "storage/server/server_address.h"
#include "storage/sql/server_backend.h"
#include "storage/sql/server_options.h"

namespace easyretry::storage {
namespace {

constexpr std::array<std::string_view, 7> kForLibpq{
    "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name", "target_session_attrs"};

// keyword='value' as libpq reads it: characters that would end the value are escaped.
void add(std::string& settings, std::string_view keyword, std::string_view value) {
  settings.append(keyword).append("='");
  for (const char c : value) {
    if (c == '\'' || c == '\\') settings.push_back('\\');
    settings.push_back(c);
  }
  settings.append("' ");
}

// All settings but the password.
std::string settings_for(const std::vector<server::ServerAddress>& servers) {
  std::string hosts;
  std::string ports;
  for (const server::ServerAddress& server : servers) {
    hosts += (hosts.empty() ? "" : ",") + server.host;
    ports += (&server == &servers.front() ? "" : ",") + (server.port == 0 ? "" : std::to_string(server.port));
  }
  std::string settings;
  add(settings, "host", hosts);
  add(settings, "port", ports);  // an empty one is the usual port
  if (!servers.front().user.empty()) add(settings, "user", servers.front().user);
  add(settings, "dbname", servers.front().database);
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
  const std::vector<server::ServerAddress> servers = server::parse_server_addresses(address, url);
  std::string settings = settings_for(servers);
  // The settings of the url come later, and override these. Among several servers, only the primary is of use.
  add(settings, "connect_timeout", "5");
  if (servers.size() > 1) add(settings, "target_session_attrs", "read-write");
  for (const auto& [name, value] : address.options) {
    if (std::find(kForLibpq.begin(), kForLibpq.end(), name) != kForLibpq.end()) {
      add(settings, name, value);
    } else if (!sql::set_server_option(options, {url, name, value})) {
      refuse_word("option", name, url,
                  {"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name",
                   "target_session_attrs", "history", "keep_months", "shards", "layout", "table_days", "connections",
                   server::kPasswordFile, server::kPasswordCommand});
    }
  }
  const auto current = [settings, password = servers.front().password] {
    std::string all = settings;
    if (!password.empty()) add(all, "password", password.current());
    return all;
  };
  const auto behind_pooler = std::make_shared<std::atomic<bool>>(false);
  options.connect = [current, behind_pooler, new_keys = std::make_shared<postgres::NewKeys>(),
                     demotions = server::Demotions{}] {
    auto session = std::make_unique<postgres::PostgresSession>(current(), new_keys, demotions);
    *behind_pooler = session->behind_pooler();
    return session;
  };
  options.notifier = postgres::make_notifier(current, behind_pooler);
  options.joins = Transaction::Kind::postgres;
  options.join = [](void* connection) {
    return std::make_unique<postgres::PostgresSession>(static_cast<PGconn*>(connection));
  };
  return options;
}

const Backend* easyretry_postgres_backend() {
  return &sql::server_backend<postgres_options>();
}

}  // namespace easyretry::storage
