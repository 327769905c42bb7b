#include "alert/channel.h"

#include <fmt/format.h>

#include "alert/email_channel.h"
#include "alert/http_channel.h"
#include "base/random.h"

namespace easyretry::alert {

std::unique_ptr<Channel> open_channel(const AlertChannel& config, webhook::Caller& caller) {
  if (config.type == ChannelType::email) return std::make_unique<EmailChannel>(config);
  return std::make_unique<HttpChannel>(config, caller);
}

std::string new_message_id() {
  return fmt::format("msg_{:016x}{:016x}", base::random_seed(), base::random_seed());
}

}  // namespace easyretry::alert
