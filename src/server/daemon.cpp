#include "server/daemon.h"

#include "server/daemon_config.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/tokens.h"
#include "storage/open.h"

namespace easyretry::server {
namespace {

Namespaces make_namespaces(const std::shared_ptr<storage::Store>& store, const Config& config) {
  Namespaces namespaces;
  for (const std::string& name : namespaces_of(config)) {
    namespaces.emplace(name, std::make_shared<Namespace>(store, of_namespace(config, name)));
  }
  return namespaces;
}

std::vector<engine::Core*> cores_of(const Namespaces& namespaces) {
  std::vector<engine::Core*> cores;
  for (const auto& [name, name_space] : namespaces) cores.push_back(&name_space->core());
  return cores;
}

About about(const Config& config, const storage::StoreInfo& store, bool is_traced) {
  About about{store.url, store.durability.words};
  const auto add = [&](const char* feature, bool is_on) {
    if (is_on) about.features.emplace_back(feature);
  };
  add("alerts", !config.alerts.channels.empty());
  add("audit", !config.server.audit.empty());
  add("dashboard", config.server.dashboard && !kPageFiles.empty());
  add("encryption", !config.encryption.folder.empty());
  add("rate_limit", config.server.requests_per_second > 0);
  add("tls", !config.server.certificate.empty());
  add("tracing", is_traced);
  return about;
}

http::Response ok() {
  return {.body = R"({"status":"ok"})"};
}

// Names the key, because the server knows only an address.
std::unique_ptr<http::HttpServer> listening(const http::ServerOptions& options, http::Admit admit) {
  try {
    return std::make_unique<http::HttpServer>(options, std::move(admit));
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string{kListenKey} + ": " + e.what());
  }
}

}  // namespace

Daemon::Daemon(const Config& config, int listening_socket)
    : config_((require_startable(config), config)),
      tracing_(trace::open_tracing("easyretry", config.engine.log)),
      store_(storage::open_store(config.store_url(), system_clock())),
      first_token_file_(make_first_token(config.server)),
      tokens_(std::make_shared<Tokens>(config.server.tokens)),
      namespaces_(make_namespaces(store_, config)),
      alerting_(config, cores_of(namespaces_)),
      split_(store_, system_clock(), config.engine.log),
      api_(std::make_unique<Api>(
          namespaces_, tokens_,
          ApiOptions{config.engine.name_space, hosts_of(config.server), config.server.audit,
                     config.server.requests_per_second, config.engine.log, !config.server.certificate.empty(),
                     config.server.dashboard ? kPageFiles : std::span<const PageFile>{}})),
      requests_(config.engine.log, config.log.level == LogLevel::debug, system_clock()) {
  if (tracing_) {
    for (engine::Core* core : cores_of(namespaces_)) tracing_->listen(*core);
  }
  http::ServerOptions options = server_options(config.server);
  options.listening = listening_socket;
  options.answered = [this](const http::Answered& request) { requests_.note(request); };
  add_identity_endpoints(*api_, about(config, store_->info(), tracing_ != nullptr));
  add_audit_endpoint(*api_);
  add_alert_endpoints(*api_, alerting_);
  add_task_endpoints(*api_);
  add_task_end_endpoints(*api_);
  add_bulk_endpoints(*api_);
  add_event_endpoint(*api_);
  add_lease_endpoints(*api_);
  add_lease_batch_endpoints(*api_);
  add_handler_endpoints(*api_);
  add_circuit_endpoints(*api_);
  add_limit_endpoints(*api_);
  add_errors_endpoint(*api_);
  add_series_endpoint(*api_);
  add_doctor_endpoint(*api_, true);
  add_system_endpoints(*api_);
  add_split_endpoints(*api_, split_);
  add_cluster_endpoint(*api_, [](Namespace& name_space) { return ClusterSeen{name_space.core().cluster()}; });
  add_metrics_endpoint(*api_, namespaces_, alerting_, tracing_.get());
  add_health(*api_);
  for (const auto& [name, name_space] : namespaces_) name_space->start();
  http_ = listening(options, [this](http::Request& head) { return api_->admit(head); });
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
  for (const auto& [name, name_space] : namespaces_) {
    auto of_this = name_space->reload(name == config_.engine.name_space ? wanted : of_namespace(wanted, name));
    if (name == config_.engine.name_space) changes = std::move(of_this);
  }
  return changes;
}

void Daemon::follow(const std::string& config, Environment environment) {
  following_ = std::make_unique<call::ConfigFollower>(namespaces_.at(config_.engine.name_space)->core(), config,
                                                      std::move(environment),
                                                      [this](const Config& wanted) { return reload(wanted); });
}

void Daemon::stop() {
  if (stopping_.exchange(true)) return;
  following_.reset();
  for (const auto& [name, name_space] : namespaces_) name_space->close();
  split_.close();
  http_->stop(config_.engine.drain);
  for (const auto& [name, name_space] : namespaces_) name_space->stop();
  alerting_.stop();
  if (tracing_) tracing_->stop();
}

}  // namespace easyretry::server
