#include "cluster/membership.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include <signal.h>
#include <unistd.h>

#include "base/random.h"
#include "storage/member_text.h"
#include "storage/store.h"

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Millis kShortestTimeout = 500ms;
constexpr Millis kLongestTimeout = 10s;
constexpr int kBeatsPerTimeout = 3;  // all but one may be lost

Membership::Traits traits_for(std::string node, Millis lease) {
  const Millis timeout = std::clamp(lease / 3, kShortestTimeout, kLongestTimeout);
  return {.source = "store",
          .self = std::move(node),
          .pushes = false,
          .refresh = timeout / kBeatsPerTimeout,
          .death_timeout = timeout};
}

struct Place {
  std::string_view host;
  pid_t process = 0;
};

std::optional<Place> place_of(std::string_view node) {
  const auto last = node.rfind(':');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const auto first = node.rfind(':', last - 1);
  if (first == std::string_view::npos) return std::nullopt;
  const std::string_view digits = node.substr(first + 1, last - first - 1);
  Place place{.host = node.substr(0, first)};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.process);
  if (error != std::errc{} || end != digits.data() + digits.size() || place.process <= 0) return std::nullopt;
  return place;
}

bool runs(pid_t process) {
  return kill(process, 0) == 0 || errno != ESRCH;
}

}  // namespace

std::string make_node() {
  char host[64] = "unknown";
  gethostname(host, sizeof host - 1);
  return std::string{host} + ":" + std::to_string(getpid()) + ":" + std::to_string(base::random_seed() % 1'000'000'007);
}

bool died_on_this_host(std::string_view node, std::string_view self) {
  const auto theirs = place_of(node);
  const auto ours = place_of(self);
  if (!theirs || !ours || theirs->host != ours->host) return false;
  return theirs->process != ours->process && !runs(theirs->process);
}

StoreMembership::StoreMembership(storage::Store& store, std::string name_space, std::string node, Millis lease)
    : store_(store), namespace_(std::move(name_space)), node_(std::move(node)), traits_(traits_for(node_, lease)) {}

Result<MemberList> StoreMembership::refresh(const Announcement& announcement) {
  auto reply = store_.beat({.name_space = namespace_,
                            .node = node_,
                            .ttl = traits_.death_timeout,
                            .says = announcement.says,
                            .handlers = announcement.handlers});
  if (!reply) return tl::make_unexpected(reply.error());
  std::erase_if(reply->members, [this](const Member& member) { return died_on_this_host(member.node, node_); });
  return MemberList{.members = std::move(reply->members),
                    .handlers_left_out = !storage::handlers_fit(announcement.says, announcement.handlers)};
}

void StoreMembership::leave() {
  // If this fails, the others notice that the heartbeats stop.
  static_cast<void>(store_.leave(namespace_, node_));
}

}  // namespace easyretry::cluster
