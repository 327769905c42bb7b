#pragma once
// Tells people of trouble in the namespaces that are served, as `alerts` of the configuration says.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <easyretry/config.h>

#include "alert/delivery.h"
#include "server/api.h"
#include "webhook/caller.h"

namespace easyretry::server {

// Throws std::invalid_argument that names the channel, and holds no secret, where it cannot be opened.
std::unique_ptr<alert::Channel> open_channel(const std::string& name, const AlertChannel& channel,
                                             webhook::Caller& caller);

class Alerting {
 public:
  // Listens from now on; to be made before the spaces start. Throws as open_channel() does.
  Alerting(const Config& config, Spaces spaces);
  ~Alerting();  // stop()
  Alerting(const Alerting&) = delete;
  Alerting& operator=(const Alerting&) = delete;

  // After the spaces have stopped: what they told last is told, for some seconds at most.
  void stop();

  struct Count {
    std::string channel;
    std::uint64_t delivered;
    std::uint64_t failed;
  };
  std::vector<Count> counts() const;

 private:
  void watch(const std::stop_token& stop);
  void look_at_backlogs();

  const Spaces spaces_;
  const Millis round_;
  const std::shared_ptr<alert::AlertQueue> desk_;  // shared with the engines' listeners
  const std::unique_ptr<webhook::Caller> caller_;  // none without channels
  std::vector<std::unique_ptr<alert::Sender>> couriers_;
  std::jthread watching_;
};

}  // namespace easyretry::server
