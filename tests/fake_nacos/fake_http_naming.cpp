#include "fake_nacos/fake_http_naming.h"

namespace easyretry::test {
namespace {

using nlohmann::json;

std::string decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::map<std::string, std::string> fields_in(const std::string& form) {
  std::map<std::string, std::string> fields;
  for (std::size_t at = 0; at < form.size();) {
    const auto end = std::min(form.find('&', at), form.size());
    const auto equals = form.find('=', at);
    fields[form.substr(at, equals - at)] = decoded(form.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  return fields;
}

constexpr const char* kPeer = "http ";  // followed by the address: to the server each address is a client

}  // namespace

FakeHttp::Answer FakeHttpNaming::answer(const FakeHttp::Seen& seen) {
  const std::string root = dialect_ == "v1" ? "/nacos/v1/ns/instance" : "/nacos/v3/client/ns/instance";
  if (!seen.path.starts_with(root)) return {404, "Not Found"};
  if (!token.empty() && seen.token != token) return {403, "Forbidden"};
  const Fields fields = fields_in(seen.form);
  if (fields.at("serviceName").find(' ') != std::string::npos) return {400, "as the test wants"};
  if (seen.path == root + "/list") return list(fields);
  if (seen.path == root + "/beat" || fields.contains("heartBeat")) return beat(fields);
  return change(seen, fields);
}

FakeHttp::Answer FakeHttpNaming::change(const FakeHttp::Seen& seen, const Fields& fields) {
  const std::string peer = kPeer + fields.at("ip") + ":" + fields.at("port");
  const bool on = seen.method == "POST";
  json body{{"namespace", fields.at("namespaceId")},
            {"groupName", fields.at("groupName")},
            {"serviceName", fields.at("serviceName")},
            {"type", on ? "registerInstance" : "deregisterInstance"}};
  if (on) {
    body["instance"] = {{"ip", fields.at("ip")},
                        {"port", std::stoi(fields.at("port"))},
                        {"weight", std::stod(fields.at("weight"))},
                        {"healthy", fields.at("healthy") == "true"},
                        {"enabled", fields.at("enabled") == "true"},
                        {"clusterName", fields.at("clusterName")},
                        {"metadata", json::parse(fields.at("metadata"))}};
    services_.join(peer, "naming", [](const std::string&, const json&) {});
  }
  services_.answer(peer, "InstanceRequest", body);
  if (!on) services_.leave(peer);
  return {200, dialect_ == "v1" ? "ok" : R"({"code":0,"message":"success","data":"ok"})"};
}

FakeHttp::Answer FakeHttpNaming::beat(const Fields& fields) const {
  const bool known = services_.knows(kPeer + fields.at("ip") + ":" + fields.at("port"));
  if (dialect_ == "v1") return {200, json{{"clientBeatInterval", 5000}, {"code", known ? 10200 : 20404}}.dump()};
  return {200, json{{"code", known ? 0 : 21003}, {"message", ""}, {"data", nullptr}}.dump()};
}

// Without a cluster, v3 means DEFAULT and v1 means all.
FakeHttp::Answer FakeHttpNaming::list(const Fields& fields) const {
  const bool v1 = dialect_ == "v1";
  std::string cluster = fields.at(v1 ? "clusters" : "clusterName");
  if (!v1 && cluster.empty()) cluster = "DEFAULT";
  json hosts = json::array();
  const std::string service = fields.at("namespaceId") + "/" + fields.at("groupName") + "/" + fields.at("serviceName");
  for (const json& host : services_.hosts(service)) {
    if (cluster.empty() || host.at("clusterName") == cluster) hosts.push_back(host);
  }
  if (v1)
    return {200, json{{"name", fields.at("groupName") + "@@" + fields.at("serviceName")}, {"hosts", hosts}}.dump()};
  return {200, json{{"code", 0}, {"message", "success"}, {"data", hosts}}.dump()};
}

void FakeHttpNaming::forget_instances() {
  services_.leave_all([](const std::string& peer) { return peer.starts_with(kPeer); });
}

}  // namespace easyretry::test
