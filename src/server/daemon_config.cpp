#include "server/daemon_config.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include <sys/resource.h>

#include "alert/alert_service.h"
#include "call/configuration.h"
#include "cluster/open_membership.h"
#include "engine/handlers.h"
#include "server/audit.h"
#include "server/namespace.h"
#include "server/tokens.h"
#include "storage/open.h"
#include "webhook/destination.h"
#include "webhook/secrets_file.h"

namespace easyretry::server {
namespace {

class Objections {
 public:
  // Collects the problems that `check` throws, so that all checks run.
  void ask(const std::function<void()>& check) {
    try {
      check();
    } catch (const ConfigError& e) {
      for (const std::string& problem : e.problems()) add(problem);
    } catch (const std::exception& e) {
      add(e.what());
    }
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  // Two checks may find the same problem.
  void add(const std::string& problem) {
    if (std::find(all_.begin(), all_.end(), problem) == all_.end()) all_.push_back(problem);
  }

  std::vector<std::string> all_;
};

void check_engine(const Config& config, Objections& objections) {
  objections.ask([&] { validate(config.engine); });
  objections.ask([&] {
    storage::validate_store_url(config.store_url());
    cluster::require_shared_store(cluster::parse_membership(config.engine.membership),
                                  storage::may_be_shared(config.store));
  });
  objections.ask([&] { read_keys(config.encryption); });
}

void check_server(const Config& config, Objections& objections) {
  const ServerConfig& server = config.server;
  objections.ask([&] { http::validate(server_options(server)); });
  objections.ask([&] { require_place_for_first_token(server); });
  objections.ask([&] { Tokens{server.tokens}; });
  objections.ask([&] { Audit::require_writable(server.audit); });
  objections.ask([&] { webhook::Guard{server.may_call}; });
  for (const std::string& name : server.namespaces) {
    objections.ask([&] { validate(of_namespace(config, name).engine); });
  }
}

// `who`: the origin of the URL, for the error.
void require_callable(const std::string& who, const std::string& url, const Config& config) {
  const webhook::Guard guard{config.server.may_call};
  try {
    const auto objection = guard.objection(webhook::parse_destination(url));
    if (objection) throw std::invalid_argument(*objection);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(who + ": " + e.what());
  }
}

void check_webhook(const Config& config, const std::string& handler) {
  const auto place = webhook_of(config, handler);
  if (!place) return;
  require_callable("handler \"" + handler + "\"", place->url, config);
  webhook::SecretsFile{place->secrets_file};
}

// For handlers without their own entry: a task may name any handler.
void check_default_webhook(const Config& config) {
  if (!config.defaults.url) return;
  require_callable("defaults.url", *config.defaults.url, config);
  if (config.defaults.secrets_file) webhook::SecretsFile{*config.defaults.secrets_file};
}

// All namespaces have the same handlers.
void check_handlers(const Config& config, Objections& objections) {
  objections.ask([&] { check_default_webhook(config); });
  const call::Configuration configuration{config};
  engine::Handlers handlers;
  for (const auto& [name, said] : config.handlers) {
    objections.ask([&, &name = name] { check_webhook(config, name); });
    objections.ask([&, &name = name] {
      require_room_for(name, handlers.snapshot()->by_number.size());
      detail::Handler handler = remote_handler(name);
      configuration.settle(handler);
      handlers.add(std::move(handler));
    });
  }
}

void check_alerts(const Config& config, Objections& objections) {
  if (config.alerts.channels.empty()) return;
  objections.ask([&] {
    webhook::Caller unused{{.guard = webhook::Guard{config.server.may_call}}};
    for (const auto& [name, channel] : config.alerts.channels) {
      objections.ask([&, &name = name, &channel = channel] { alert::open_channel(name, channel, unused); });
    }
  });
}

}  // namespace

std::vector<std::string> objections_to_engine(const Config& config) {
  Objections objections;
  check_engine(config, objections);
  check_alerts(config, objections);
  return objections.take();
}

std::vector<std::string> objections_to_start(const Config& config) {
  Objections objections;
  check_engine(config, objections);
  check_server(config, objections);
  check_handlers(config, objections);
  check_alerts(config, objections);
  return objections.take();
}

void require_startable(const Config& config) {
  auto objections = objections_to_start(config);
  if (!objections.empty()) throw ConfigError{std::move(objections)};
}

std::set<std::string> namespaces_of(const Config& config) {
  std::set<std::string> names{config.server.namespaces.begin(), config.server.namespaces.end()};
  names.insert(config.engine.name_space);
  return names;
}

Config of_namespace(Config config, const std::string& name) {
  config.engine.name_space = name;
  return config;
}

namespace {

struct Listen {
  std::string address;
  std::uint16_t port = 0;
};

Listen listen_of(const std::string& text) {
  const auto colon = text.rfind(':');
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  return {std::move(address), static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1)))};
}

bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

bool is_plain_for_others(const ServerConfig& server) {
  return server.certificate.empty() && !is_loopback(listen_of(server.listen).address);
}

// Half of the file descriptors are for connections; the other half stays available for the store, webhooks and files. A
// quarter of the connections may be unauthenticated.
void fit_to_descriptors(http::ServerOptions& options) {
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) return;
  options.most_connections = std::min<std::size_t>(options.most_connections, descriptors.rlim_cur / 2);
  options.most_unauthenticated = std::max<std::size_t>(1, options.most_connections / 4);
}

}  // namespace

http::ServerOptions server_options(const ServerConfig& server) {
  const Listen listen = listen_of(server.listen);
  if (server.certificate.empty() != server.private_key.empty()) {
    throw std::invalid_argument("server.certificate and server.private_key must be given together");
  }
  if (is_plain_for_others(server) && !server.allow_plain_http) {
    throw std::invalid_argument(std::string{kListenKey} + " is " + server.listen +
                                ", which other machines can reach, and tokens must not be sent unencrypted: give "
                                "server.certificate and server.private_key, or listen on 127.0.0.1 behind a proxy; if "
                                "only a proxy with TLS can reach this port, as in a container, set "
                                "server.allow_plain_http (--allow-plain-http)");
  }
  http::ServerOptions options;
  options.address = listen.address;
  options.port = listen.port;
  options.certificate = server.certificate;
  options.private_key = server.private_key;
  fit_to_descriptors(options);
  return options;
}

std::optional<std::string> plain_http_warning(const ServerConfig& server) {
  if (!is_plain_for_others(server)) return std::nullopt;
  return std::string{kListenKey} + " is " + server.listen +
         " without TLS, because server.allow_plain_http is set: tokens and arguments are sent unencrypted, so make "
         "sure "
         "that only a proxy with TLS can reach this port";
}

std::vector<std::string> hosts_of(const ServerConfig& server) {
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]", listen_of(server.listen).address};
  hosts.insert(hosts.end(), server.hosts.begin(), server.hosts.end());
  return hosts;
}

std::string address_of(const ServerConfig& server, std::uint16_t port) {
  const std::string address = listen_of(server.listen).address;
  const bool v6 = address.find(':') != std::string::npos;
  return std::string{server.certificate.empty() ? "http" : "https"} + "://" + (v6 ? "[" + address + "]" : address) +
         ":" + std::to_string(port);
}

}  // namespace easyretry::server
