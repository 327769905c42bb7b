#pragma once
// A channel: a way to send messages to people.

#include <memory>
#include <stop_token>
#include <string>

#include <easyretry/config.h>

#include "alert/message.h"
#include "webhook/caller.h"

namespace easyretry::alert {

// One thread at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  // Waits for the answer, for half a minute at most, or until it is stopped. `id` stays the same when a message is sent
  // again, so that the receiver can recognise repetitions. The reason for a failure contains no secret.
  virtual SendResult send(const Message& message, const std::string& id, const std::stop_token& stop) = 0;
};

// The caller outlives the channel. Throws std::invalid_argument, without secrets, if the url cannot be called or a
// secret cannot be read. Secrets are read again for each message.
std::unique_ptr<Channel> open_channel(const AlertChannel& config, webhook::Caller& caller);

// The kinds of channels; open_channel() selects one.
std::unique_ptr<Channel> open_http_channel(const AlertChannel& config, webhook::Caller& caller);
std::unique_ptr<Channel> open_email_channel(const AlertChannel& config);

std::string new_message_id();  // "msg_4bf92f3577b34da6a3ce929d0e0e4736"

// The first line of a file, without surrounding white space. Throws std::invalid_argument that names the file.
std::string secret_line(const std::string& file);

}  // namespace easyretry::alert
