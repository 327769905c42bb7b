#pragma once
// The requests of naming and of configuration, and their answers, as JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <easyretry/detail/json_text.h>

#include "base/result.h"
#include "nacos/instance.h"
#include "nacos/protocol.h"

namespace easyretry::nacos {

enum class InstanceChange { registered, deregistered };

// An empty `name_space` is the default namespace.
Message instance_request(const std::string& name_space, const ServiceName& service, const Instance& instance,
                         InstanceChange change);
// Always for all clusters: a server keeps one subscription per service and connection, with the clusters of the last
// request.
Message subscribe_request(const std::string& name_space, const ServiceName& service, bool subscribe);
Message query_request(const std::string& name_space, const ServiceName& service);

struct ServiceInfo {
  ServiceView view;
  std::int64_t as_of = 0;  // milliseconds on the server's clock: orders only lists of the same connection
};

// From a JSON array; sorted. Throws JsonError.
std::vector<Instance> read_instances(JsonView hosts);
std::string metadata_text(const Instance& instance);  // {"nodeId":"n-7"}

// From an answer or a push; both have the list under "serviceInfo". Throws JsonError.
ServiceInfo read_service_info(JsonView body);

struct ConfigContent {
  std::optional<std::string> text;  // nullopt: there is no such configuration
  std::string md5{};                // from the server; empty if there is no text

  friend bool operator==(const ConfigContent&, const ConfigContent&) = default;
};

struct KnownConfig {
  ConfigKey key;
  std::string md5;  // of the text that we have
};

Message config_query(const std::string& name_space, const ConfigKey& key);
// The server compares our texts with its own, answers with the differences, and notifies us of later changes.
Message config_listen(const std::string& name_space, const std::vector<KnownConfig>& known, bool listen);
Message config_publish(const std::string& name_space, const ConfigKey& key, const std::string& text);
Message config_remove(const std::string& name_space, const ConfigKey& key);

// Throw JsonError.
Result<ConfigContent> read_config(const Reply& reply);
std::vector<ConfigKey> read_changed(JsonView body);
ConfigKey read_config_key(JsonView body);

}  // namespace easyretry::nacos
