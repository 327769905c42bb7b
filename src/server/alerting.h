#pragma once
// Notifies people of problems in the namespaces of the daemon, as configured under `alerts`.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <easyretry/config.h>

#include "alert/delivery.h"
#include "server/api.h"
#include "webhook/caller.h"

namespace easyretry::server {

// Throws std::invalid_argument that names the channel and contains no secret.
std::unique_ptr<alert::Channel> open_channel(const std::string& name, const AlertChannel& channel,
                                             webhook::Caller& caller);

class Alerting {
 public:
  // Listens from now on; create it before the namespaces start. Throws like open_channel().
  Alerting(const Config& config, Spaces spaces);
  ~Alerting();  // stop()
  Alerting(const Alerting&) = delete;
  Alerting& operator=(const Alerting&) = delete;

  // Call it after the namespaces have stopped: their last events are sent, for a few seconds at most.
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
  const std::unique_ptr<webhook::Caller> caller_;  // nullptr without channels
  std::vector<std::unique_ptr<alert::Sender>> couriers_;
  std::jthread watching_;
};

}  // namespace easyretry::server
