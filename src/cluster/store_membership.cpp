#include "cluster/store_membership.h"

#include <utility>

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

// Three beats may be lost before an instance is taken for dead. Leases, which decide, last longer still.
constexpr Millis kBeat = 3s;
constexpr Millis kDead = 10s;

}  // namespace

StoreMembership::StoreMembership(storage::Store& store, std::string space, std::string node)
    : store_(store),
      space_(std::move(space)),
      node_(std::move(node)),
      traits_{.source = "store", .self = node_, .tells = false, .refresh = kBeat, .notices_death = kDead} {}

Result<std::vector<Member>> StoreMembership::refresh() {
  auto reply = store_.beat({.space = space_, .node = node_, .ttl = kDead});
  if (!reply) return tl::make_unexpected(reply.error());
  return std::move(reply->members);
}

void StoreMembership::leave() {
  // What could not be told is found out by the others when the beats stop.
  static_cast<void>(store_.leave(space_, node_));
}

}  // namespace easyretry::cluster
