#include "fake_nacos/fake_services.h"

#include <algorithm>

namespace easyretry::test {
namespace {

using nlohmann::json;

json ok() {
  return {{"resultCode", 200}, {"errorCode", 0}, {"success", true}};
}

json failure(int code) {
  return {{"resultCode", 500}, {"errorCode", code}, {"success", false}, {"message", "as the test wants"}};
}

std::string response_type(std::string type) {
  if (type == "ServiceQueryRequest") return "QueryServiceResponse";
  if (type == "ConfigBatchListenRequest") return "ConfigChangeBatchListenResponse";
  return type.replace(type.rfind("Request"), 7, "Response");
}

// "public/DEFAULT_GROUP/orders"
std::string service_of(const json& body) {
  return body.at("namespace").get<std::string>() + "/" + body.at("groupName").get<std::string>() + "/" +
         body.at("serviceName").get<std::string>();
}

}  // namespace

FakeAnswer fake_failure(const std::string& type, int code) {
  const bool general = code == 300 || code == 301 || code == -401;
  return {general ? "ErrorResponse" : response_type(type), failure(code)};
}

void FakeServices::join(const std::string& peer, const std::string& module, Send send) {
  clients_[peer] = {module, std::move(send)};
}

void FakeServices::leave(const std::string& peer) {
  const auto gone = clients_.extract(peer);
  if (!gone) return;
  for (const auto& [service, instance] : gone.mapped().instances) push(service);
}

void FakeServices::leave_all(const std::function<bool(const std::string& peer)>& which) {
  std::vector<std::string> gone;
  for (const auto& [peer, client] : clients_) {
    if (which(peer)) gone.push_back(peer);
  }
  for (const std::string& peer : gone) leave(peer);
}

FakeAnswer FakeServices::answer(const std::string& peer, const std::string& type, const json& body) {
  if (!knows(peer)) return fake_failure(type, 301);
  Client& client = clients_.at(peer);
  if (type == "HealthCheckRequest") return {response_type(type), ok()};
  const bool config = type.starts_with("Config");
  if (client.module != (config ? "config" : "naming")) return fake_failure(type, -401);
  return {response_type(type), config ? config_answer(client, type, body) : naming_answer(client, type, body)};
}

json FakeServices::naming_answer(Client& client, const std::string& type, const json& body) {
  const std::string service = service_of(body);
  json result = ok();
  if (type == "InstanceRequest") {
    if (body.at("type") == "registerInstance") {
      client.instances[service] = body.at("instance");
    } else {
      client.instances.erase(service);
    }
    push(service);
    return result;
  }
  if (type == "SubscribeServiceRequest" && body.at("subscribe")) client.subscribed.insert(service);
  if (type == "SubscribeServiceRequest" && !body.at("subscribe")) client.subscribed.erase(service);
  result["serviceInfo"] = service_info(service);
  return result;
}

json FakeServices::config_answer(Client& client, const std::string& type, const json& body) {
  if (type == "ConfigBatchListenRequest") return listen(client, body);
  const std::string data_id = body.at("dataId");
  json result = ok();
  if (type == "ConfigPublishRequest") {
    set_config(data_id, body.at("content"));
  } else if (type == "ConfigRemoveRequest") {
    remove_config(data_id);
  } else if (!configs_.contains(data_id)) {
    return failure(300);
  } else {
    result["content"] = configs_[data_id];
    result["md5"] = md5_of(data_id);
  }
  return result;
}

json FakeServices::listen(Client& client, const json& body) {
  json result = ok();
  result["changedConfigs"] = json::array();
  for (const json& context : body.at("configListenContexts")) {
    const std::string data_id = context.at("dataId");
    if (!body.at("listen")) {
      client.listening.erase(data_id);
      continue;
    }
    client.listening.insert(data_id);
    if (context.at("md5") != md5_of(data_id)) result["changedConfigs"].push_back(context);
  }
  return result;
}

json FakeServices::hosts(const std::string& service) const {
  json found = json::array();
  for (const auto& [peer, client] : clients_) {
    const auto instance = client.instances.find(service);
    if (instance != client.instances.end()) found.push_back(instance->second);
  }
  return found;
}

json FakeServices::service_info(const std::string& service) {
  const auto group = service.find('/') + 1;
  const auto name = service.find('/', group) + 1;
  return {{"name", service.substr(name)},
          {"groupName", service.substr(group, name - group - 1)},
          {"clusters", ""},
          {"lastRefTime", ++clock_},
          {"hosts", hosts(service)}};
}

// Any text that differs for different contents.
std::string FakeServices::md5_of(const std::string& data_id) const {
  const auto found = configs_.find(data_id);
  return found == configs_.end() ? "" : "md5 of " + found->second;
}

void FakeServices::push(const std::string& service) {
  if (hold_pushes) return;
  for (auto& [peer, client] : clients_) {
    if (!client.subscribed.contains(service)) continue;
    send(client, "NotifySubscriberRequest", {{"serviceInfo", service_info(service)}});
  }
}

// The tenant is null, as from some servers.
void FakeServices::push_config(const std::string& data_id) {
  if (hold_pushes) return;
  for (auto& [peer, client] : clients_) {
    if (!client.listening.contains(data_id)) continue;
    send(client, "ConfigChangeNotifyRequest", {{"dataId", data_id}, {"group", "DEFAULT_GROUP"}, {"tenant", nullptr}});
  }
}

void FakeServices::send(Client& client, const std::string& type, json body) {
  if (!body.contains("requestId")) body["requestId"] = std::to_string(++last_request_);
  client.send(type, body);
}

void FakeServices::send_to_all(const std::string& type, const json& body) {
  for (auto& [peer, client] : clients_) send(client, type, body);
}

void FakeServices::set_config(const std::string& data_id, const std::string& content) {
  configs_[data_id] = content;
  push_config(data_id);
}

void FakeServices::remove_config(const std::string& data_id) {
  configs_.erase(data_id);
  push_config(data_id);
}

std::string FakeServices::config(const std::string& data_id) const {
  const auto found = configs_.find(data_id);
  return found == configs_.end() ? "(none)" : found->second;
}

std::vector<std::string> FakeServices::instances(const std::string& service) const {
  std::vector<std::string> found;
  for (const json& host : hosts(service)) {
    found.push_back(host.at("ip").get<std::string>() + ":" + std::to_string(host.at("port").get<int>()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace easyretry::test
