#include "nacos/naming_messages.h"

#include <algorithm>
#include <tuple>

#include "nacos/json_read.h"

namespace easyretry::nacos {
namespace {

void write(JsonWriter& out, std::string_view key, std::string_view value) {
  out.key(key);
  out.string(value);
}

void write_bool(JsonWriter& out, std::string_view key, bool value) {
  out.key(key);
  out.boolean(value);
}

// Opens the object. Naming wants the default namespace by its name.
void begin_request(JsonWriter& out, const std::string& space, const ServiceName& service) {
  out.begin_object();
  write(out, "namespace", space.empty() ? "public" : space);
  write(out, "groupName", service.group);
  write(out, "serviceName", service.name);
}

void write_metadata(JsonWriter& out, const Instance& instance) {
  out.begin_object();
  for (const auto& [key, value] : instance.metadata) write(out, key, value);
  out.end_object();
}

// Every key, because r-nacos insists on them.
void write_instance(JsonWriter& out, const Instance& instance) {
  out.begin_object();
  write(out, "ip", instance.ip);
  out.key("port");
  out.integer(instance.port);
  out.key("weight");
  out.number(instance.weight);
  write_bool(out, "healthy", instance.healthy);
  write_bool(out, "enabled", instance.enabled);
  write_bool(out, "ephemeral", true);
  write(out, "clusterName", instance.cluster);
  out.key("metadata");
  write_metadata(out, instance);
  out.end_object();
}

Instance read_instance(JsonView from) {
  Instance instance{.ip = string_at(from, "ip"),
                    .port = static_cast<int>(int_at(from, "port", 0)),
                    .weight = double_at(from, "weight", 1),
                    .healthy = bool_at(from, "healthy", true),
                    .enabled = bool_at(from, "enabled", true),
                    .cluster = string_at(from, "clusterName")};
  if (const auto metadata = value_at(from, "metadata")) {
    for (const auto [key, value] : metadata->members()) {
      if (!value.is_null()) instance.metadata.emplace(std::string{key}, std::string{value.as_string()});
    }
  }
  return instance;
}

bool in_order(const Instance& a, const Instance& b) {
  return std::tie(a.ip, a.port, a.cluster, a.metadata) < std::tie(b.ip, b.port, b.cluster, b.metadata);
}

}  // namespace

std::string to_string(const ServiceName& service) {
  return service.group + "@@" + service.name;
}

Message instance_request(const std::string& space, const ServiceName& service, const Instance& instance,
                         InstanceChange change) {
  JsonWriter out;
  begin_request(out, space, service);
  write(out, "type", change == InstanceChange::registered ? "registerInstance" : "deregisterInstance");
  out.key("instance");
  write_instance(out, instance);
  out.end_object();
  return {"InstanceRequest", out.take()};
}

Message subscribe_request(const std::string& space, const ServiceName& service, bool subscribe) {
  JsonWriter out;
  begin_request(out, space, service);
  write_bool(out, "subscribe", subscribe);
  write(out, "clusters", "");
  out.end_object();
  return {"SubscribeServiceRequest", out.take()};
}

Message query_request(const std::string& space, const ServiceName& service) {
  JsonWriter out;
  begin_request(out, space, service);
  write(out, "cluster", "");
  write_bool(out, "healthyOnly", false);
  out.key("udpPort");
  out.integer(0);
  out.end_object();
  return {"ServiceQueryRequest", out.take()};
}

ServiceInfo read_service_info(JsonView body) {
  const auto info = value_at(body, "serviceInfo");
  if (!info) body.fail_missing("serviceInfo");
  ServiceInfo result{.view = {.service = {string_at(*info, "name"), string_at(*info, "groupName")}},
                     .as_of = int_at(*info, "lastRefTime", 0)};
  result.view.protected_by_threshold = bool_at(*info, "reachProtectionThreshold", false);
  if (const auto hosts = value_at(*info, "hosts")) result.view.instances = read_instances(*hosts);
  return result;
}

std::vector<Instance> read_instances(JsonView hosts) {
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < hosts.size(); ++i) instances.push_back(read_instance(hosts.at(i)));
  std::sort(instances.begin(), instances.end(), in_order);
  return instances;
}

std::string metadata_text(const Instance& instance) {
  JsonWriter out;
  write_metadata(out, instance);
  return out.take();
}

}  // namespace easyretry::nacos
