#include "server/declared_handler.h"

#include <stdexcept>

#include "server/refusal.h"

namespace easyretry::server {
namespace {

// Each costs memory, and whoever may submit can make them up.
constexpr std::size_t kMostHandlers = 1000;

}  // namespace

std::optional<Webhook> webhook_of(const Config& config, const std::string& handler) {
  const auto own = config.handlers.find(handler);
  const HandlerConfig& defaults = config.defaults;
  const HandlerConfig& said = own == config.handlers.end() ? defaults : own->second;
  const auto& url = said.url ? said.url : defaults.url;
  const auto& secrets = said.secrets_file ? said.secrets_file : defaults.secrets_file;
  if (!url) return std::nullopt;
  if (!secrets) {
    throw std::invalid_argument("handler \"" + handler + "\" has a url, but no secrets_file to sign calls with");
  }
  return Webhook{*url, *secrets};
}

detail::Handler handler_elsewhere(const std::string& name) {
  detail::Handler handler;
  handler.name = name;
  handler.policy_given = false;
  handler.returns_value = true;
  return handler;
}

void require_room_for(const std::string& handler, std::size_t known) {
  if (known < kMostHandlers) return;
  throw Refusal{{422, "too_many_handlers",
                 "\"" + handler + "\" would be handler number " + std::to_string(kMostHandlers + 1),
                 "use fewer names, and put what differs into the arguments"}};
}

}  // namespace easyretry::server
