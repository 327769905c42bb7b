#pragma once
// The requests of naming, and lists of instances as servers send them.

#include <cstdint>

#include <easyretry/json_text.h>

#include "nacos/connection.h"
#include "nacos/instance.h"

namespace easyretry::nacos {

enum class InstanceChange { registered, deregistered };

// `space` empty: the default namespace.
Message instance_request(const std::string& space, const ServiceName& service, const Instance& instance,
                         InstanceChange change);
// Always of all clusters: a server keeps one subscription for a service and a connection, with the last clusters asked
// for.
Message subscribe_request(const std::string& space, const ServiceName& service, bool subscribe);
Message query_request(const std::string& space, const ServiceName& service);

struct ServiceInfo {
  ServiceView view;
  std::int64_t as_of = 0;  // milliseconds on the clock of the server that answered: orders lists of one connection only
};

// Of an array of them, sorted. Throws JsonError.
std::vector<Instance> read_instances(JsonView hosts);
std::string metadata_text(const Instance& instance);  // {"nodeId":"n-7"}

// Of an answer or a push; both have the list under "serviceInfo". Throws JsonError.
ServiceInfo read_service_info(JsonView body);

}  // namespace easyretry::nacos
