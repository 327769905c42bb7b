#pragma once
// A client of Nacos's configuration: reads texts by their name, and hears of changes.
//
//   ConfigClient nacos{{.servers = parse_servers("10.0.0.7:8848")}};
//   auto rules = nacos.listen({"retry.yaml"}, [](const std::optional<std::string>& text) { … });
//
// Has a connection of its own, as Nacos wants it. Safe to use from any thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <easyretry/error.h>

#include "nacos/config_key.h"
#include "nacos/options.h"
#include "nacos/status.h"
#include "nacos/subscription.h"

namespace easyretry::nacos {

using OnConfig = std::function<void(const std::optional<std::string>&)>;

class ConfigClient {
 public:
  // Connects in the background. Throws std::invalid_argument for wrong options.
  explicit ConfigClient(ClientOptions options);
  ~ConfigClient();  // prompt; waits only for a listener that is running
  ConfigClient(const ConfigClient&) = delete;
  ConfigClient& operator=(const ConfigClient&) = delete;

  // Nothing: there is none.
  Result<std::optional<std::string>> get(const ConfigKey& key);
  Result<void> publish(const ConfigKey& key, const std::string& text);
  Result<void> remove(const ConfigKey& key);

  // The listener gets what is there, or that there is nothing, as soon as the client knows, and then every change: each
  // text once, and only the newest if it is slow. It runs on a thread of the client's.
  Subscription listen(const ConfigKey& key, OnConfig listener);

  Status status() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace easyretry::nacos
