#pragma once
// Notifies people of problems in the namespaces of a process, as configured under `alerts`.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <easyretry/config.h>

#include "alert/delivery.h"
#include "call/senders.h"
#include "engine/core.h"
#include "webhook/caller.h"

namespace easyretry::alert {

// Throws std::invalid_argument that names the channel and contains no secret.
std::unique_ptr<Channel> open_channel(const std::string& name, const AlertChannel& channel, webhook::Caller& caller);

class AlertService final : public call::AlertSender {
 public:
  // One engine for each namespace, all on one store; they outlive this. Listens from now on; create it before they
  // start. Throws like open_channel().
  AlertService(const Config& config, std::vector<engine::Core*> engines);
  ~AlertService() override;  // stop()
  AlertService(const AlertService&) = delete;
  AlertService& operator=(const AlertService&) = delete;

  // Call it after the engines have stopped: their last events are sent, for a few seconds at most.
  void stop() override;

  struct Count {
    std::string channel;
    std::uint64_t delivered;
    std::uint64_t failed;
  };
  std::vector<Count> counts() const;

  const AlertsConfig& config() const { return config_; }
  // The latest messages since the start, the newest first; tests are among them.
  std::vector<Sent> sent() const { return sent_.latest(); }

  struct Tested {
    std::optional<Millis> wait{};  // nothing was sent: the channel is at its limit, or another test is in flight
    SendResult result{};
  };
  // Sends a test message, which counts as one of the channel's messages per minute, and waits for the answer, for half
  // a minute at most. Thread-safe. Throws std::out_of_range for an unknown channel.
  Tested test(const std::string& channel);

 private:
  void watch(const std::stop_token& stop);
  void look_at_backlogs();
  void look_at_circuits();

  const AlertsConfig config_;
  const std::vector<engine::Core*> engines_;
  const Millis round_;
  const std::shared_ptr<AlertQueue> queue_;        // shared with the engines' listeners
  const std::unique_ptr<webhook::Caller> caller_;  // nullptr without channels
  SentMessages sent_;
  std::mutex testing_;        // held while a test message is in flight
  std::stop_source stopped_;  // ends it
  std::vector<std::unique_ptr<Sender>> senders_;
  std::jthread watching_;
};

}  // namespace easyretry::alert
