#pragma once
// `easyretry serve`: engines for the namespaces of one store, and the API in front of them.

#include <memory>

#include <easyretry/config.h>

#include "http/http_server.h"
#include "server/alerting.h"
#include "server/api.h"
#include "server/table_split.h"

namespace easyretry::server {

class Daemon {
 public:
  // Everything is up and listening when this returns. Throws what says why it cannot be: ConfigError, before anything
  // is made, with all that start_checks.h finds; StoreError, std::runtime_error, std::invalid_argument.
  explicit Daemon(const Config& config);
  ~Daemon();  // stop()
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  std::string address() const;  // "http://127.0.0.1:7077"
  // Where the first token was written, if this start made it.
  const std::optional<std::string>& first_token_file() const { return first_token_file_; }

  // As Engine::reload, for every namespace. What is of the daemon itself, server and alerts, needs a restart.
  std::vector<ConfigChange> reload(const Config& wanted);

  // Takes no more requests, answers those that are there, lets handlers finish for Config's `drain`.
  void stop();

 private:
  void add_health(Api& api);

  const Config config_;
  const std::shared_ptr<storage::Store> store_;
  std::optional<std::string> first_token_file_;
  const std::shared_ptr<Tokens> tokens_;
  const Spaces spaces_;
  Alerting alerting_;
  TableSplit split_;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::HttpServer> http_;
};

}  // namespace easyretry::server
