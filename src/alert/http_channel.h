#pragma once
// Chat rooms and webhooks: a POST each, guarded as webhooks to handlers are.

#include <optional>

#include "alert/channel.h"
#include "alert/mask.h"
#include "webhook/secrets_file.h"

namespace easyretry::alert {

class HttpChannel final : public Channel {
 public:
  HttpChannel(AlertChannel config, webhook::Caller& caller);

  Told send(const Message& message, const std::string& id, const std::stop_token& stop) override;

 private:
  webhook::Call call_for(const Message& message, const std::string& id, TimePoint now, Mask& mask);

  const AlertChannel config_;
  webhook::Caller& caller_;
  std::optional<webhook::SecretsFile> signing_;  // of a webhook
};

}  // namespace easyretry::alert
