#pragma once
// `easyretry serve`: engines for the namespaces of one store, and their API.

#include <memory>

#include <easyretry/config.h>

#include "alert/alert_service.h"
#include "call/config_follower.h"
#include "http/http_server.h"
#include "server/api.h"
#include "server/request_log.h"
#include "server/table_split.h"
#include "trace/trace_service.h"

namespace easyretry::server {

class Daemon {
 public:
  // The daemon is running and listening when this returns. Throws ConfigError, before anything is created, with all
  // problems that daemon_config.h finds; StoreError, std::runtime_error or std::invalid_argument.
  // `listening_socket` is one that listens on config.server.listen already, or -1.
  explicit Daemon(const Config& config, int listening_socket = -1);
  ~Daemon();  // stop()
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  std::string address() const;  // "http://127.0.0.1:7077"
  // The file with the first token, if this start created it.
  const std::optional<std::string>& first_token_file() const { return first_token_file_; }

  // Like Engine::reload, for every namespace. Changes to `server` and `alerts` need a restart.
  std::vector<ConfigChange> reload(const Config& wanted);
  // Reloads this configuration whenever it changes, as Engine::follow does. `environment` overrides it. Call it once.
  void follow(const std::string& config, Environment environment);

  // Whether the thread that handles all requests answers within this time. Not after stop().
  bool responds(Millis within) const { return http_->responds(within); }

  // Accepts no more requests, answers those in flight, and lets handlers finish for Config's `drain`.
  void stop();

 private:
  void add_health(Api& api);

  const Config config_;
  const std::unique_ptr<trace::TraceService> tracing_;  // null: off
  const std::shared_ptr<storage::Store> store_;
  std::optional<std::string> first_token_file_;
  const std::shared_ptr<Tokens> tokens_;
  const Namespaces namespaces_;
  alert::AlertService alerting_;
  TableSplit split_;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Api> api_;
  RequestLog requests_;
  std::unique_ptr<http::HttpServer> http_;
  std::unique_ptr<call::ConfigFollower> following_;  // last: its thread reloads the namespaces
};

}  // namespace easyretry::server
