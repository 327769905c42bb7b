#pragma once
// Which server is the primary, as sentinels say.

#include <mutex>
#include <string>
#include <vector>

#include "storage/redis/sources.h"
#include "storage/redis/topology.h"

namespace easyretry::storage::redis {

class Sentinels final : public Topology {
 public:
  // They are talked to like the servers, but without a password.
  Sentinels(std::vector<Endpoint> sentinels, std::string service, const Address& like);

  Endpoint of(Slot slot) override;
  void look_again(const Endpoint& suspect) override;
  bool moved(Slot, const Endpoint&) override { return false; }

 private:
  void refresh();

  const std::vector<Endpoint> sentinels_;
  const std::string service_;
  Sources sources_;
  std::mutex mutex_;  // guards the next
  Endpoint primary_{"", 0};
};

}  // namespace easyretry::storage::redis
