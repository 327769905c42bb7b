#pragma once
// A handler that no code has registered: its tasks are run by workers that fetch them, or behind a URL.

#include <cstddef>
#include <optional>
#include <string>

#include <easyretry/config.h>
#include <easyretry/handler.h>

namespace easyretry::server {

struct Webhook {
  std::string url;
  std::string secrets_file;
};

// Nothing: workers fetch its tasks. Throws std::invalid_argument where there is nothing to sign calls with.
std::optional<Webhook> webhook_of(const Config& config, const std::string& handler);

// Without the place where it is run.
detail::Handler handler_elsewhere(const std::string& name);

// Throws Refusal where there are too many already.
void require_room_for(const std::string& handler, std::size_t known);

}  // namespace easyretry::server
