#include "server/daemon.h"

#include <filesystem>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/endpoints.h"
#include "server/refusal.h"
#include "storage/open.h"

namespace easyretry::server {
namespace {

constexpr std::string_view kFirstTokenName = "first";

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

http::ServerOptions server_options(const ServerConfig& server) {
  const Listen listen = listen_of(server.listen);
  if (!is_loopback(listen.address) && server.certificate.empty()) {
    throw std::invalid_argument("server.listen is " + server.listen +
                                ", which others can reach, and tokens must not be sent in the open: give "
                                "server.certificate and server.private_key, or listen at 127.0.0.1 behind a proxy");
  }
  http::ServerOptions options;
  options.address = listen.address;
  options.port = listen.port;
  options.certificate = server.certificate;
  options.private_key = server.private_key;
  return options;
}

std::vector<std::string> hosts_of(const ServerConfig& server) {
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]", listen_of(server.listen).address};
  hosts.insert(hosts.end(), server.hosts.begin(), server.hosts.end());
  return hosts;
}

// The secret itself, where only the owner reads it: beside the hashes, to be moved to a safe place and deleted.
void write_secret(const std::string& file, const std::string& secret) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const std::string text = secret + "\n";
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) ::close(fd);
  if (!written) {
    throw std::runtime_error("cannot write the first token to " + file + ": " + std::generic_category().message(errno) +
                             "; make the folder writable, or make a token with `easyretry token create`");
  }
}

std::optional<std::string> make_first_token(const ServerConfig& server) {
  if (std::filesystem::exists(server.tokens)) return std::nullopt;
  const std::string secret = new_secret();
  std::string file = server.tokens + ".first";
  write_secret(file, secret);
  Tokens{server.tokens}.add(
      {std::string{kFirstTokenName}, "admin+payloads", std::string{kAnyNamespace}, hash_of(secret)});
  return file;
}

Config of_space(Config config, const std::string& name) {
  config.engine.space = name;
  return config;
}

Spaces make_spaces(const std::shared_ptr<storage::Store>& store, const Config& config) {
  std::set<std::string> names{config.server.spaces.begin(), config.server.spaces.end()};
  names.insert(config.engine.space);
  Spaces spaces;
  for (const std::string& name : names) {
    spaces.emplace(name, std::make_shared<Space>(store, of_space(config, name)));
  }
  return spaces;
}

http::Response ok() {
  return {.body = R"({"status":"ok"})"};
}

}  // namespace

Daemon::Daemon(const Config& config)
    : config_((validate(config.engine), config)),
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
  add_judging_endpoints(*api_);
  add_handler_endpoints(*api_);
  add_system_endpoints(*api_);
  add_split_endpoints(*api_, split_);
  add_cluster_endpoint(*api_, [](Space& space) { return ClusterSeen{space.core().rebalancer.view()}; });
  add_metrics_endpoint(*api_, spaces_, alerting_);
  add_health(*api_);
  for (const auto& [name, space] : spaces_) space->start();
  http_ = std::make_unique<http::HttpServer>(options, [this](http::Request request, http::Respond respond) {
    api_->serve(std::move(request), std::move(respond));
  });
}

Daemon::~Daemon() {
  stop();
}

// Alive is whoever answers; ready is one whose store answers, too, and who is not about to go.
void Daemon::add_health(Api& api) {
  api.add_open(http::Method::get, "/healthz", [](const Call&) { return ok(); });
  api.add_open(http::Method::get, "/readyz", [this](const Call&) {
    if (stopping_) throw Refusal{{503, "stopping", "this instance is about to stop"}};
    const TaskId nobody{};
    const auto reply = store_->find({&nobody, 1});
    if (!reply) throw StoreError{reply.error()};
    return ok();
  });
}

std::string Daemon::address() const {
  const Listen listen = listen_of(config_.server.listen);
  const bool v6 = listen.address.find(':') != std::string::npos;
  return std::string{config_.server.certificate.empty() ? "http" : "https"} + "://" +
         (v6 ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(http_->port());
}

std::vector<ConfigChange> Daemon::reload(const Config& wanted) {
  validate(wanted.engine);
  std::vector<ConfigChange> changes;  // of the usual namespace, where the others have the same
  for (const auto& [name, space] : spaces_) {
    auto of_this = space->reload(name == config_.engine.space ? wanted : of_space(wanted, name));
    if (name == config_.engine.space) changes = std::move(of_this);
  }
  return changes;
}

void Daemon::stop() {
  if (stopping_.exchange(true)) return;
  for (const auto& [name, space] : spaces_) space->let_go();
  split_.close();
  http_->stop(config_.engine.drain);
  for (const auto& [name, space] : spaces_) space->stop();
  alerting_.stop();
}

}  // namespace easyretry::server
