#pragma once
// A way to tell somebody. One thread at a time.

#include <memory>
#include <stop_token>
#include <string>

#include <easyretry/alerts.h>

#include "alert/message.h"
#include "alert/told.h"
#include "webhook/caller.h"

namespace easyretry::alert {

class Channel {
 public:
  virtual ~Channel() = default;
  // Waits for the answer, half a minute at most, or until it is stopped. `id` is the same each time a message is sent,
  // so that a receiver can tell a repetition. What is told of a failure holds no secret.
  virtual Told send(const Message& message, const std::string& id, const std::stop_token& stop) = 0;
};

// The caller outlives the channel. Throws std::invalid_argument, which holds no secret, for a url that cannot be
// called and for secrets that cannot be read; those are read again for each message.
std::unique_ptr<Channel> open_channel(const AlertChannel& config, webhook::Caller& caller);

std::string new_message_id();  // "msg_4bf92f3577b34da6a3ce929d0e0e4736"

}  // namespace easyretry::alert
