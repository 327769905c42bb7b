#pragma once
// Which server is next. One thread only.

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "nacos/options.h"

namespace easyretry::nacos {

class ServerList {
 public:
  // Starts anywhere, so that the clients of a cluster spread over its servers.
  ServerList(std::vector<ServerAddress> servers, base::Random& random)
      : servers_(std::move(servers)), next_(random.below(servers_.size())) {}

  std::size_t size() const { return servers_.size(); }

  const ServerAddress& next() {
    const ServerAddress& server = servers_[next_];
    next_ = (next_ + 1) % servers_.size();
    return server;
  }

  // The next one will be this, if it is in the list: where else a server sends us is not ours to trust.
  void prefer(std::string_view host) {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i].host == host) next_ = i;
    }
  }

 private:
  const std::vector<ServerAddress> servers_;
  std::size_t next_;
};

// The wait before another attempt: longer with each round over the list, and never the same for all clients.
inline Millis reconnect_pause(std::size_t failures, std::size_t servers, const Timings& timings, base::Random& random) {
  const auto rounds = static_cast<Millis::rep>(failures / servers);
  const Millis whole = rounds < timings.reconnect_most / timings.reconnect_step ? timings.reconnect_step * (rounds + 1)
                                                                                : timings.reconnect_most;
  return Millis{whole.count() / 2 +
                static_cast<Millis::rep>(random.below(static_cast<std::uint64_t>(whole.count()) / 2 + 1))};
}

}  // namespace easyretry::nacos
