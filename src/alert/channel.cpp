#include "alert/channel.h"

#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/random.h"

namespace easyretry::alert {

std::unique_ptr<Channel> open_channel(const AlertChannel& config, webhook::Caller& caller) {
  return config.type == ChannelType::email ? open_email_channel(config) : open_http_channel(config, caller);
}

std::string new_message_id() {
  return fmt::format("msg_{:016x}{:016x}", base::random_seed(), base::random_seed());
}

std::string secret_line(const std::string& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) {
    throw std::invalid_argument(file + " cannot be read, or its first line is empty; write the secret there");
  }
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace easyretry::alert
