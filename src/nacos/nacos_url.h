#pragma once
// Where something in Nacos is, on one line: nacos://user:password@host:8848,host:8848/orders?group=shop

#include <string>
#include <string_view>

#include "nacos/config_key.h"
#include "nacos/instance.h"
#include "nacos/options.h"

namespace easyretry::nacos {

struct ServiceUrl {
  ClientOptions client;
  ServiceName service;
  std::string cluster = "DEFAULT";  // that an instance is registered in, and others are looked for in
  std::string ip{};                 // of an instance; empty: the address that leads to the first server
  int port = 0;                     // of an instance; 0: one that is free here
};

struct ConfigUrl {
  ClientOptions client;
  ConfigKey key;
};

// %-escapes are decoded everywhere. Both throw std::invalid_argument that says what is wrong, and never the password.
ServiceUrl parse_service_url(std::string_view url);
ConfigUrl parse_config_url(std::string_view url);

}  // namespace easyretry::nacos
