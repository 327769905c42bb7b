#include "nacos/messages.h"

#include <algorithm>
#include <tuple>

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

// Opens the object. Naming requires the name of the default namespace.
void begin_request(JsonWriter& out, const std::string& name_space, const ServiceName& service) {
  out.begin_object();
  write(out, "namespace", name_space.empty() ? "public" : name_space);
  write(out, "groupName", service.group);
  write(out, "serviceName", service.name);
}

void write_metadata(JsonWriter& out, const Instance& instance) {
  out.begin_object();
  for (const auto& [key, value] : instance.metadata) write(out, key, value);
  out.end_object();
}

// Writes every key, because r-nacos requires them.
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

constexpr int kNoSuchConfig = 300;  // in a ConfigQueryResponse; elsewhere 300 means that the server is starting

// Opens the object. Unlike naming, configuration requires an empty id for the default namespace, and always the key.
void begin_key(JsonWriter& out, const std::string& name_space, const ConfigKey& key) {
  out.begin_object();
  write(out, "dataId", key.data_id);
  write(out, "group", key.group);
  write(out, "tenant", name_space == "public" ? "" : name_space);
}

Message request_of_key(const char* type, const std::string& name_space, const ConfigKey& key) {
  JsonWriter out;
  begin_key(out, name_space, key);
  out.end_object();
  return {type, out.take()};
}

}  // namespace

Message instance_request(const std::string& name_space, const ServiceName& service, const Instance& instance,
                         InstanceChange change) {
  JsonWriter out;
  begin_request(out, name_space, service);
  write(out, "type", change == InstanceChange::registered ? "registerInstance" : "deregisterInstance");
  out.key("instance");
  write_instance(out, instance);
  out.end_object();
  return {"InstanceRequest", out.take()};
}

Message subscribe_request(const std::string& name_space, const ServiceName& service, bool subscribe) {
  JsonWriter out;
  begin_request(out, name_space, service);
  write_bool(out, "subscribe", subscribe);
  write(out, "clusters", "");
  out.end_object();
  return {"SubscribeServiceRequest", out.take()};
}

Message query_request(const std::string& name_space, const ServiceName& service) {
  JsonWriter out;
  begin_request(out, name_space, service);
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

Message config_query(const std::string& name_space, const ConfigKey& key) {
  return request_of_key("ConfigQueryRequest", name_space, key);
}

Message config_remove(const std::string& name_space, const ConfigKey& key) {
  return request_of_key("ConfigRemoveRequest", name_space, key);
}

Message config_publish(const std::string& name_space, const ConfigKey& key, const std::string& text) {
  JsonWriter out;
  begin_key(out, name_space, key);
  write(out, "content", text);
  out.end_object();
  return {"ConfigPublishRequest", out.take()};
}

Message config_listen(const std::string& name_space, const std::vector<KnownConfig>& known, bool listen) {
  JsonWriter out;
  out.begin_object();
  out.key("listen");
  out.boolean(listen);
  out.key("configListenContexts");
  out.begin_array();
  for (const auto& [key, md5] : known) {
    begin_key(out, name_space, key);
    write(out, "md5", md5);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return {"ConfigBatchListenRequest", out.take()};
}

Result<ConfigContent> read_config(const Reply& reply) {
  if (reply.ok()) return ConfigContent{string_at(reply.body.root(), "content"), string_at(reply.body.root(), "md5")};
  if (reply.code == kNoSuchConfig && !reply.is_general_error()) return ConfigContent{};
  return tl::make_unexpected(error_of(reply, "ConfigQueryRequest"));
}

std::vector<ConfigKey> read_changed(JsonView body) {
  std::vector<ConfigKey> changed;
  if (const auto list = value_at(body, "changedConfigs")) {
    for (std::size_t i = 0; i < list->size(); ++i) changed.push_back(read_config_key(list->at(i)));
  }
  return changed;
}

ConfigKey read_config_key(JsonView body) {
  return {string_at(body, "dataId"), string_at(body, "group")};
}

}  // namespace easyretry::nacos
