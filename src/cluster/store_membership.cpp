#include "cluster/store_membership.h"

#include <algorithm>
#include <utility>

#include "storage/member_text.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Millis kSoonestDead = 500ms;
constexpr Millis kLatestDead = 10s;
constexpr int kBeats = 3;  // all but one may be lost

Membership::Traits traits_for(std::string node, Millis lease) {
  const Millis dead = std::clamp(lease / 3, kSoonestDead, kLatestDead);
  return {.source = "store", .self = std::move(node), .tells = false, .refresh = dead / kBeats, .notices_death = dead};
}

}  // namespace

StoreMembership::StoreMembership(storage::Store& store, std::string space, std::string node, Millis lease)
    : store_(store), space_(std::move(space)), node_(std::move(node)), traits_(traits_for(node_, lease)) {}

Result<MemberList> StoreMembership::refresh(const Announcement& announcement) {
  auto reply = store_.beat({.space = space_,
                            .node = node_,
                            .ttl = traits_.notices_death,
                            .says = announcement.says,
                            .handlers = announcement.handlers});
  if (!reply) return tl::make_unexpected(reply.error());
  std::erase_if(reply->members, [this](const Member& member) { return died_here(member.node, node_); });
  return MemberList{.members = std::move(reply->members),
                    .handlers_left_out = !storage::handlers_fit(announcement.says, announcement.handlers)};
}

void StoreMembership::leave() {
  // If this fails, the others notice that the heartbeats stop.
  static_cast<void>(store_.leave(space_, node_));
}

}  // namespace easyretry::cluster
