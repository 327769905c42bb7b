#pragma once
// The requests of Nacos's configuration.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/error.h>

#include "nacos/config_key.h"
#include "nacos/protocol.h"

namespace easyretry::nacos {

struct ConfigContent {
  std::optional<std::string> text;  // none: there is no such configuration
  std::string md5{};                // as the server says; empty for none

  friend bool operator==(const ConfigContent&, const ConfigContent&) = default;
};

struct HeldConfig {
  ConfigKey key;
  std::string md5;  // of what we have
};

Message config_query(const std::string& space, const ConfigKey& key);
// The server compares what we hold with what it has, answers with what differs, and sends word of later changes.
Message config_listen(const std::string& space, const std::vector<HeldConfig>& held, bool listen);
Message config_publish(const std::string& space, const ConfigKey& key, const std::string& text);
Message config_remove(const std::string& space, const ConfigKey& key);

// Throw JsonError.
Result<ConfigContent> read_config(const Reply& reply);
std::vector<ConfigKey> read_changed(JsonView body);
ConfigKey read_config_key(JsonView body);

}  // namespace easyretry::nacos
