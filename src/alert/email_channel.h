#pragma once
// E-mail by SMTP: smtps:// is TLS from the start, smtp:// STARTTLS or nothing, smtp+plain:// neither. Servers are
// always verified.

#include "alert/channel.h"

namespace easyretry::alert {

class EmailChannel final : public Channel {
 public:
  explicit EmailChannel(AlertChannel config);

  Told send(const Message& message, const std::string& id, const std::stop_token& stop) override;

 private:
  const AlertChannel config_;
};

}  // namespace easyretry::alert
