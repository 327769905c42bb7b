#pragma once
// A real daemon in this process, and engines that know only its address.

#include <memory>
#include <string>

#include <easyretry/remote_engine.h>

#include "server/daemon.h"
#include "support/temp_folder.h"

namespace easyretry::test {

struct TestDaemon {
  TestDaemon() : TestDaemon(std::string{}) {}
  // Without a URL: on SQLite.
  explicit TestDaemon(const std::string& on) : store_url(on.empty() ? folder.sqlite_url() : on) { start_daemon(); }

  void start_daemon() {
    Config config{.store = store_url};
    config.engine.log = nullptr;
    config.engine.window = Millis{200};  // so that an expired lease is noticed soon
    config.server.listen = "127.0.0.1:" + std::to_string(port);
    config.server.tokens = (folder.path() / "tokens").string();
    config.server.namespaces = {"shop"};
    config.server.certificate = certificate;
    config.server.private_key = private_key;
    daemon = std::make_unique<server::Daemon>(config);
    url = daemon->address();
    port = std::stoi(url.substr(url.rfind(':') + 1));
  }

  std::string token(const std::string& role, const std::string& name_space = "default") const {
    const std::string secret = server::new_secret();
    server::Tokens{folder.path() / "tokens"}.add(
        {"t" + secret.substr(3, 8), role, name_space, server::hash_of(secret)});
    return secret;
  }

  // With the role application.
  RemoteOptions options() const { return options(EngineOptions{.log = nullptr}); }
  RemoteOptions options(const EngineOptions& engine) const { return {.token = application, .engine = engine}; }

  TempFolder folder;
  const std::string store_url;
  int port = 0;               // the same after a restart
  std::string certificate{};  // for TLS
  std::string private_key{};
  std::unique_ptr<server::Daemon> daemon;
  std::string url;
  std::string application = token("application");
};

}  // namespace easyretry::test
