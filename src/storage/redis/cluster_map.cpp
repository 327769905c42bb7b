#include "storage/redis/cluster_map.h"

#include <algorithm>

#include "storage/redis/errors.h"

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

bool is_known(const Endpoint& endpoint) {
  return endpoint.port != 0;
}

// A row of CLUSTER SLOTS: first, last, the primary (host, port, …), its replicas. A node that does not know its own
// address leaves the host out: it is the one that was asked.
void take_row(ReplyView row, const Endpoint& asked, std::vector<Endpoint>& places) {
  if (!row.has(2)) return;
  const ReplyView primary = row.part(2);
  const Slot first = static_cast<Slot>(std::max<std::int64_t>(row.integer(0), 0));
  const Slot last = static_cast<Slot>(std::min<std::int64_t>(row.integer(1), kSlots - 1));
  const std::string host{primary.text(0)};
  const bool unknown = host.empty() || host == "?";
  const Endpoint endpoint{unknown ? asked.host : host, static_cast<int>(primary.integer(1))};
  for (Slot slot = first; slot <= last; ++slot) places[static_cast<std::size_t>(slot)] = endpoint;
}

std::vector<Endpoint> places_by(Connection& node, const Endpoint& asked) {
  const Reply reply = node.run(Command::of("CLUSTER", "SLOTS"));
  std::vector<Endpoint> places(kSlots, Endpoint{"", 0});
  for (std::size_t i = 0; i < reply.size(); ++i) take_row(reply.part(i), asked, places);
  if (std::ranges::none_of(places, is_known)) {
    throw ServerError{Trouble::gone, to_string(asked) + " knows of no primary: it is not part of a cluster"};
  }
  return places;
}

}  // namespace

ClusterMap::ClusterMap(std::vector<Endpoint> seeds, Address like)
    : seeds_(std::move(seeds)), sources_(std::move(like)), places_(kSlots, Endpoint{"", 0}) {}

Endpoint ClusterMap::of(Slot slot) {
  for (const bool asked : {false, true}) {
    {
      const std::lock_guard lock{mutex_};
      const Endpoint& place = places_[static_cast<std::size_t>(slot)];
      if (is_known(place)) return place;
    }
    if (!asked) refresh({});
  }
  throw server_error("CLUSTERDOWN slot " + std::to_string(slot) + " is not served");
}

// Where nobody answers, what is known stays, and whoever needs it finds out.
void ClusterMap::look_again(const Endpoint& suspect) {
  try {
    refresh(suspect);
  } catch (const ServerError&) {
    return;
  }
}

bool ClusterMap::moved(Slot slot, const Endpoint& to) {
  if (!is_known(to)) return false;
  const std::lock_guard lock{mutex_};
  places_[static_cast<std::size_t>(slot)] = to;
  return true;
}

void ClusterMap::refresh(const Endpoint& suspect) {
  std::vector<Endpoint> nodes = seeds_;
  {
    const std::lock_guard lock{mutex_};
    std::ranges::copy_if(places_, std::back_inserter(nodes), is_known);
  }
  sources_.ask(std::move(nodes), suspect, [this](Connection& node, const Endpoint& asked) {
    std::vector<Endpoint> places = places_by(node, asked);
    const std::lock_guard lock{mutex_};
    places_ = std::move(places);
  });
}

}  // namespace easyretry::storage::redis
