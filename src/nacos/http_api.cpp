#include "nacos/http_api.h"

#include "http/client.h"
#include "nacos/messages.h"

namespace easyretry::nacos {
namespace {

constexpr std::int64_t kUnknownInV1 = 20404;
constexpr std::int64_t kUnknownInV3 = 21003;

std::string path_in(HttpDialect dialect, std::string_view rest) {
  return (dialect == HttpDialect::v3 ? "/v3/client/ns/instance" : "/v1/ns/instance") + std::string{rest};
}

FormFields service_fields(const std::string& name_space, const ServiceName& service) {
  return {{"namespaceId", name_space.empty() ? "public" : name_space},
          {"groupName", service.group},
          {"serviceName", service.name}};
}

FormFields address_fields(const Registration& registration) {
  FormFields fields = service_fields(registration.name_space, registration.service);
  const Instance& instance = registration.instance;
  fields.insert(fields.end(), {{"ip", instance.ip},
                               {"port", std::to_string(instance.port)},
                               {"clusterName", instance.cluster},
                               {"ephemeral", "true"}});
  return fields;
}

FormFields instance_fields(const Registration& registration) {
  FormFields fields = address_fields(registration);
  const Instance& instance = registration.instance;
  fields.insert(fields.end(), {{"weight", std::to_string(instance.weight)},
                               {"healthy", instance.healthy ? "true" : "false"},
                               {"enabled", instance.enabled ? "true" : "false"},
                               {"metadata", metadata_text(instance)}});
  return fields;
}

}  // namespace

Result<HttpReply> ask_by_http(const HttpRequest& request, const std::optional<TlsOptions>& tls,
                              const HttpLimits& limits) {
  const std::string form = http::form_encoded(request.fields);
  http::ClientRequest sent{.method = request.method,
                           .url = request.url,
                           .connect_within = limits.connect,
                           .within = limits.answer,
                           .stop = limits.stop};
  if (request.method == "POST") {
    sent.body = form;
  } else if (!form.empty()) {
    sent.url += "?" + form;
  }
  if (!request.token.empty()) sent.headers.push_back("Authorization: Bearer " + request.token);
  if (tls) sent.tls = {tls->ca_file, tls->certificate_file, tls->key_file};
  auto reply = http::Client{}.ask(sent);
  if (reply) return HttpReply{reply->status, std::move(reply->body)};
  // Some servers answer a wrong password with an invalid HTTP status.
  if (reply.error().not_http) return HttpReply{};
  const bool stopped = reply.error().kind == http::NoAnswer::Kind::stopped;
  return fail(Errc::unavailable, "nacos.http", (stopped ? "" : request.url + ": ") + reply.error().brief);
}

HttpCall register_call(HttpDialect dialect, const Registration& registration) {
  return {"POST", path_in(dialect, ""), instance_fields(registration)};
}

HttpCall deregister_call(HttpDialect dialect, const Registration& registration) {
  return {"DELETE", path_in(dialect, ""), address_fields(registration)};
}

HttpCall beat_call(HttpDialect dialect, const Registration& registration) {
  if (dialect == HttpDialect::v3) {
    HttpCall call = register_call(dialect, registration);
    call.fields.emplace_back("heartBeat", "true");
    return call;
  }
  HttpCall call{"PUT", path_in(dialect, "/beat"), address_fields(registration)};
  for (auto& [name, value] : call.fields) {
    if (name == "serviceName") value = to_string(registration.service);  // only here the name includes the group
  }
  return call;
}

HttpCall list_call(HttpDialect dialect, const std::string& name_space, const ServiceName& service,
                   const std::string& cluster) {
  HttpCall call{"GET", path_in(dialect, "/list"), service_fields(name_space, service)};
  call.fields.emplace_back(dialect == HttpDialect::v3 ? "clusterName" : "clusters", cluster);
  call.fields.emplace_back("healthyOnly", "false");
  return call;
}

bool read_beat(std::string_view body) {
  const JsonDocument answer = JsonDocument::parse(body);
  const std::int64_t code = int_at(answer.root(), "code", 0);
  return code != kUnknownInV1 && code != kUnknownInV3;
}

std::vector<Instance> read_list(HttpDialect dialect, std::string_view body) {
  const JsonDocument answer = JsonDocument::parse(body);
  const char* const key = dialect == HttpDialect::v3 ? "data" : "hosts";
  const auto hosts = value_at(answer.root(), key);
  if (!hosts) answer.root().fail_missing(key);
  return read_instances(*hosts);
}

}  // namespace easyretry::nacos
