#pragma once
// What `server` of the configuration says about where to listen.

#include <cstdint>
#include <string>
#include <vector>

#include <easyretry/config.h>

#include "http/http_server.h"

namespace easyretry::server {

// Throws std::invalid_argument where tokens would travel in the open, and for half of what TLS needs.
http::ServerOptions server_options(const ServerConfig& server);

// By which names it may be asked for.
std::vector<std::string> hosts_of(const ServerConfig& server);

// "http://127.0.0.1:7077"
std::string address_of(const ServerConfig& server, std::uint16_t port);

}  // namespace easyretry::server
