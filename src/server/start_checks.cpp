#include "server/start_checks.h"

#include <algorithm>
#include <functional>

#include "call/configuration.h"
#include "cluster/open_membership.h"
#include "engine/handlers.h"
#include "server/alerting.h"
#include "server/audit.h"
#include "server/declared_handler.h"
#include "server/first_token.h"
#include "server/listening.h"
#include "storage/open.h"
#include "webhook/destination.h"
#include "webhook/secrets_file.h"

namespace easyretry::server {
namespace {

class Objections {
 public:
  // What `check` throws is written down, and the others are still asked.
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
  // Once, whichever checks meet it.
  void add(const std::string& problem) {
    if (std::find(all_.begin(), all_.end(), problem) == all_.end()) all_.push_back(problem);
  }

  std::vector<std::string> all_;
};

void look_at_engine(const Config& config, Objections& objections) {
  objections.ask([&] { validate(config.engine); });
  objections.ask([&] {
    storage::validate_store_url(config.store_url());
    cluster::require_shared_store(cluster::parse_membership(config.engine.membership),
                                  storage::may_be_shared(config.store));
  });
  objections.ask([&] { read_keys(config.encryption); });
}

void look_at_server(const Config& config, Objections& objections) {
  const ServerConfig& server = config.server;
  objections.ask([&] { http::validate(server_options(server)); });
  objections.ask([&] { require_place_for_first_token(server); });
  objections.ask([&] { Tokens{server.tokens}; });
  objections.ask([&] { Audit::require_writable(server.audit); });
  objections.ask([&] { webhook::Guard{server.may_call}; });
  for (const std::string& name : server.spaces) {
    objections.ask([&] { validate(of_space(config, name).engine); });
  }
}

void look_at_webhook(const Config& config, const std::string& handler) {
  const auto place = webhook_of(config, handler);
  if (!place) return;
  try {
    webhook::parse_destination(place->url);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument("handler \"" + handler + "\": " + e.what());
  }
  webhook::SecretsFile{place->secrets_file};
}

// All namespaces have the same ones.
void look_at_handlers(const Config& config, Objections& objections) {
  const call::Configuration configuration{config};
  engine::Handlers handlers;
  for (const auto& [name, said] : config.handlers) {
    objections.ask([&, &name = name] { look_at_webhook(config, name); });
    objections.ask([&, &name = name] {
      require_room_for(name, handlers.snapshot()->by_number.size());
      detail::Handler handler = handler_elsewhere(name);
      configuration.settle(handler);
      handlers.add(std::move(handler));
    });
  }
}

void look_at_alerts(const Config& config, Objections& objections) {
  if (config.alerts.channels.empty()) return;
  webhook::Caller nobody_is_called;
  for (const auto& [name, channel] : config.alerts.channels) {
    objections.ask([&, &name = name, &channel = channel] { open_channel(name, channel, nobody_is_called); });
  }
}

}  // namespace

std::vector<std::string> objections_to_engine(const Config& config) {
  Objections objections;
  look_at_engine(config, objections);
  return objections.take();
}

std::vector<std::string> objections_to_start(const Config& config) {
  Objections objections;
  look_at_engine(config, objections);
  look_at_server(config, objections);
  look_at_handlers(config, objections);
  look_at_alerts(config, objections);
  return objections.take();
}

void require_startable(const Config& config) {
  auto objections = objections_to_start(config);
  if (!objections.empty()) throw ConfigError{std::move(objections)};
}

std::set<std::string> spaces_of(const Config& config) {
  std::set<std::string> names{config.server.spaces.begin(), config.server.spaces.end()};
  names.insert(config.engine.space);
  return names;
}

Config of_space(Config config, const std::string& name) {
  config.engine.space = name;
  return config;
}

}  // namespace easyretry::server
