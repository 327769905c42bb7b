#include "server/daemon.h"

#include "server/daemon_config.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/tokens.h"
#include "storage/open.h"

namespace easyretry::server {
namespace {

Spaces make_spaces(const std::shared_ptr<storage::Store>& store, const Config& config) {
  Spaces spaces;
  for (const std::string& name : spaces_of(config)) {
    spaces.emplace(name, std::make_shared<Space>(store, of_space(config, name)));
  }
  return spaces;
}

http::Response ok() {
  return {.body = R"({"status":"ok"})"};
}

}  // namespace

Daemon::Daemon(const Config& config)
    : config_((require_startable(config), config)),
      store_(storage::open_store(config.store_url(), system_clock())),
      first_token_file_(make_first_token(config.server)),
      tokens_(std::make_shared<Tokens>(config.server.tokens)),
      spaces_(make_spaces(store_, config)),
      alerting_(config, spaces_),
      split_(store_, system_clock(), config.engine.log),
      api_(std::make_unique<Api>(spaces_, tokens_,
                                 ApiOptions{config.engine.space, hosts_of(config.server), config.server.audit,
                                            config.server.requests_per_second, config.engine.log})) {
  const http::ServerOptions options = server_options(config.server);
  add_task_endpoints(*api_);
  add_bulk_endpoints(*api_);
  add_event_endpoint(*api_);
  add_lease_endpoints(*api_);
  add_lease_batch_endpoints(*api_);
  add_handler_endpoints(*api_);
  add_system_endpoints(*api_);
  add_split_endpoints(*api_, split_);
  add_cluster_endpoint(*api_, [](Space& space) { return ClusterSeen{space.core().cluster()}; });
  add_metrics_endpoint(*api_, spaces_, alerting_);
  add_health(*api_);
  for (const auto& [name, space] : spaces_) space->start();
  http_ = std::make_unique<http::HttpServer>(options, [this](http::Request& head) { return api_->admit(head); });
}

Daemon::~Daemon() {
  stop();
}

// /healthz shows that the server's thread responds, however much work waits for the other threads. /readyz also shows
// that the store answers and that the daemon is not stopping.
void Daemon::add_health(Api& api) {
  api.add_open(http::Method::get, "/healthz", [](const Call&, const http::Respond& respond) { respond(ok()); });
  api.add_open(http::Method::get, "/readyz", [this](const Call&) {
    if (stopping_) throw Refusal{{503, "stopping", "this instance is stopping"}};
    const TaskId none{};
    const auto reply = store_->find({&none, 1});
    if (!reply) throw StoreError{reply.error()};
    return ok();
  });
}

std::string Daemon::address() const {
  return address_of(config_.server, http_->port());
}

std::vector<ConfigChange> Daemon::reload(const Config& wanted) {
  validate(wanted.engine);
  std::vector<ConfigChange> changes;  // of the default namespace; the others change in the same way
  for (const auto& [name, space] : spaces_) {
    auto of_this = space->reload(name == config_.engine.space ? wanted : of_space(wanted, name));
    if (name == config_.engine.space) changes = std::move(of_this);
  }
  return changes;
}

void Daemon::stop() {
  if (stopping_.exchange(true)) return;
  for (const auto& [name, space] : spaces_) space->close();
  split_.close();
  http_->stop(config_.engine.drain);
  for (const auto& [name, space] : spaces_) space->stop();
  alerting_.stop();
}

}  // namespace easyretry::server
