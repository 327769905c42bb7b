#pragma once
// The configuration of a daemon: its namespaces, where it listens, and why it would not start. The checks read files,
// but create, write and contact nothing. Each check is the code by which the daemon itself would refuse.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>

#include "http/http_server.h"

namespace easyretry::server {

// Errors that an engine in an application would refuse as well.
std::vector<std::string> objections_to_engine(const Config& config);
// These, and those that only `easyretry serve` finds.
std::vector<std::string> objections_to_start(const Config& config);

// Throws ConfigError with all of objections_to_start().
void require_startable(const Config& config);

// The namespaces that the daemon serves.
std::set<std::string> namespaces_of(const Config& config);
// The same configuration for another namespace.
Config of_namespace(Config config, const std::string& name);

// Every problem with the address begins with this key, so that a command line can name its flag instead.
inline constexpr std::string_view kListenKey = "server.listen";

// Throws std::invalid_argument if tokens would be sent unencrypted over a network and that is not allowed, or for a
// certificate without a key.
http::ServerOptions server_options(const ServerConfig& server);

// A warning if the configuration allows tokens to be sent unencrypted over a network.
std::optional<std::string> plain_http_warning(const ServerConfig& server);

// The allowed values of the Host header.
std::vector<std::string> hosts_of(const ServerConfig& server);

// "http://127.0.0.1:7077"
std::string address_of(const ServerConfig& server, std::uint16_t port);

}  // namespace easyretry::server
