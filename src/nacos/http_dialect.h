#pragma once
// Naming in the words of HTTP. Nacos 3 has the client's part of v3, servers before it v1; 3.0 and 3.1 have both. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "nacos/http.h"
#include "nacos/instance.h"

namespace easyretry::nacos {

enum class HttpDialect { v3, v1 };

struct HttpCall {
  std::string method;
  std::string path;
  FormFields fields;
};

// Whose, in which namespace: empty is the default one.
struct Registration {
  std::string space;
  ServiceName service;
  Instance instance;
};

HttpCall register_call(HttpDialect dialect, const Registration& registration);
HttpCall deregister_call(HttpDialect dialect, const Registration& registration);
HttpCall beat_call(HttpDialect dialect, const Registration& registration);
// `cluster` empty: all of them in v1, DEFAULT in v3, which has no word for all.
HttpCall list_call(HttpDialect dialect, const std::string& space, const ServiceName& service,
                   const std::string& cluster);

// False: the server does not know the instance; register it again. Throw JsonError.
bool read_beat(std::string_view body);
std::vector<Instance> read_list(HttpDialect dialect, std::string_view body);

}  // namespace easyretry::nacos
