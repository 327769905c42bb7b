#pragma once
// Nacos over HTTP: the login, which servers do not offer over gRPC, and naming if gRPC is blocked.

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <easyretry/time.h>

#include "base/result.h"
#include "nacos/instance.h"
#include "nacos/options.h"

namespace easyretry::nacos {

struct HttpReply {
  int status = 0;  // 0: not a valid HTTP status
  std::string body{};
};

using FormFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // POST sends the fields as a form, other methods in the URL
  std::string url;
  FormFields fields{};
  std::string token{};  // empty: no token
};

struct HttpLimits {
  Millis connect;
  Millis answer;
  std::stop_token stop;
};

// Errors contain neither fields nor token. Follows no redirects and uses no proxy.
Result<HttpReply> ask_by_http(const HttpRequest& request, const std::optional<TlsOptions>& tls,
                              const HttpLimits& limits);

// The HTTP API of naming. Nacos 3 has the client API v3, older servers have v1; 3.0 and 3.1 have both. Pure.
enum class HttpDialect { v3, v1 };

struct HttpCall {
  std::string method;
  std::string path;
  FormFields fields;
};

// An instance of a service in a namespace; an empty `name_space` is the default one.
struct Registration {
  std::string name_space;
  ServiceName service;
  Instance instance;
};

HttpCall register_call(HttpDialect dialect, const Registration& registration);
HttpCall deregister_call(HttpDialect dialect, const Registration& registration);
HttpCall beat_call(HttpDialect dialect, const Registration& registration);
// An empty `cluster` means all clusters in v1, and DEFAULT in v3, which cannot ask for all.
HttpCall list_call(HttpDialect dialect, const std::string& name_space, const ServiceName& service,
                   const std::string& cluster);

// Returns false if the server does not know the instance: register it again. Both throw JsonError.
bool read_beat(std::string_view body);
std::vector<Instance> read_list(HttpDialect dialect, std::string_view body);

}  // namespace easyretry::nacos
