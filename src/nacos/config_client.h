#pragma once
// A client for the configuration part of Nacos: reads texts by name and is notified of changes.
//
//   ConfigClient nacos{{.servers = parse_servers("10.0.0.7:8848")}};
//   auto rules = nacos.listen({"retry.yaml"}, [](const std::optional<std::string>& text) { … });
//
// It has its own connection, as Nacos requires. Thread-safe.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "nacos/instance.h"
#include "nacos/notifier.h"
#include "nacos/options.h"

namespace easyretry::nacos {

using OnConfig = std::function<void(const std::optional<std::string>&)>;

class ConfigClient {
 public:
  // Connects in the background. Throws std::invalid_argument for invalid options.
  explicit ConfigClient(ClientOptions options);
  ~ConfigClient();  // returns promptly; waits only for a running listener
  ConfigClient(const ConfigClient&) = delete;
  ConfigClient& operator=(const ConfigClient&) = delete;

  // Nullopt: there is no such configuration.
  Result<std::optional<std::string>> get(const ConfigKey& key);
  Result<void> publish(const ConfigKey& key, const std::string& text);
  Result<void> remove(const ConfigKey& key);

  // The listener gets the current text, or nullopt if there is none, as soon as the client knows it, and then every
  // change: each text once, and only the newest if the listener is slow. It runs on a thread of the client.
  Subscription listen(const ConfigKey& key, OnConfig listener);

  Status status() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::nacos
