#pragma once
// The token that the first start makes, so that somebody may do something.

#include <optional>
#include <string>

#include <easyretry/config.h>

namespace easyretry::server {

// Where it was written; nothing where there are tokens already. Throws std::runtime_error where it cannot be written.
std::optional<std::string> make_first_token(const ServerConfig& server);

// Throws as make_first_token() would, and makes nothing.
void require_place_for_first_token(const ServerConfig& server);

}  // namespace easyretry::server
