#pragma once
// Which primary of a Redis Cluster has which slot, as its nodes say.

#include <mutex>
#include <vector>

#include "storage/redis/sources.h"
#include "storage/redis/topology.h"

namespace easyretry::storage::redis {

class ClusterMap final : public Topology {
 public:
  // Any nodes of the cluster, and how to talk to all of them.
  ClusterMap(std::vector<Endpoint> seeds, Address like);

  Endpoint of(Slot slot) override;
  void look_again(const Endpoint& suspect) override;
  bool moved(Slot slot, const Endpoint& to) override;

 private:
  void refresh(const Endpoint& suspect);

  const std::vector<Endpoint> seeds_;
  Sources sources_;
  std::mutex mutex_;              // guards what follows
  std::vector<Endpoint> places_;  // by slot; one without a port is nobody's
};

}  // namespace easyretry::storage::redis
