#pragma once
// Why a daemon would not start, as far as that shows without the outside: files are read, nothing is made, written,
// listened to or asked. Each check is the code by which the daemon itself would refuse.

#include <set>
#include <string>
#include <vector>

#include <easyretry/config.h>

namespace easyretry::server {

// What an engine in an application would refuse, too.
std::vector<std::string> objections_to_engine(const Config& config);
// These, and what only `easyretry serve` looks at.
std::vector<std::string> objections_to_start(const Config& config);

// Throws ConfigError with all of objections_to_start().
void require_startable(const Config& config);

// The namespaces to be served.
std::set<std::string> spaces_of(const Config& config);
// The same configuration for another namespace.
Config of_space(Config config, const std::string& name);

}  // namespace easyretry::server
